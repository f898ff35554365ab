# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the scenarios race-*: in each boot one manager brings the links of both adapters up while vmw_pvrdma is being
# loaded, which may crash the driver (agent/executor/driver.hpp says how).
# shellcheck shell=bash
#
# udev loads the driver for its alias, after the modules of the field's recipe: a softdep, as administrators write it. That
# makes the load so long, here as on a host with slow disks, that links are up before its end. Managers are the
# distribution's own, started as in any boot, with static addresses. `impatient` is not a manager but a unit that also waits
# for network-pre.target, and then brings links up the moment they exist. The real managers wait for udev first, which takes
# seconds longer on an emulated CPU.
race_manager() { # the manager of this boot
  local all
  read -ra all <<<"${PVRDMA_LAB_RACE_MANAGERS:-networkd ifupdown NetworkManager impatient}"
  echo "${all[(BOOT - 1) % ${#all[@]}]}"
}

race_files=(/etc/systemd/network/5?-race.network /etc/NetworkManager/system-connections/race?.nmconnection /etc/network/interfaces)
push_impatiently() {
  local n end=$(($(uptime_ms) + 120000))
  for ((n = 0; n < LAB_ADAPTERS; n++)); do
    until netdev_up "$n"; do
      (($(uptime_ms) < end)) || return 1
      ip link set "$(netdev_of "$n")" up || pause_ms 5
    done
  done
}

race_early() {
  local n
  rm -f "${race_files[@]}"
  echo 'softdep vmw_pvrdma pre: vmxnet3 mlx4_ib ib_umad rdma_cm rdma_ucm' >/etc/modprobe.d/race.conf
  case $(race_manager) in
    networkd)
      for ((n = 0; n < LAB_ADAPTERS; n++)); do
        printf '[Match]\nMACAddress=00:50:56:00:00:1%d\n[Network]\nAddress=192.168.3%d.201/24\n' "$n" "$n" \
          >"/etc/systemd/network/5$n-race.network"
      done
      systemctl --no-block start systemd-networkd.service
      ;;
    NetworkManager)
      for ((n = 0; n < LAB_ADAPTERS; n++)); do
        printf '[connection]\nid=race%d\ntype=ethernet\ninterface-name=ens1%df0\n[ipv4]\nmethod=manual\naddress1=192.168.3%d.201/24\n' \
          "$n" $((6 + n)) "$n" | install -m 600 /dev/stdin "/etc/NetworkManager/system-connections/race$n.nmconnection"
      done
      systemctl --no-block start NetworkManager.service
      ;;
    ifupdown)
      for ((n = 0; n < LAB_ADAPTERS; n++)); do
        printf 'allow-hotplug ens1%df0\niface ens1%df0 inet static\n  address 192.168.3%d.201/24\n' $((6 + n)) $((6 + n)) "$n"
      done >/etc/network/interfaces
      systemctl --no-block start networking.service
      ;;
    impatient)
      systemd-run --no-block --unit=impatient -p DefaultDependencies=no -p After=network-pre.target \
        -E LAB_ADAPTERS="$LAB_ADAPTERS" bash -c ". /run/lab/lib.sh; . /run/lab/race.sh; push_impatiently"
      ;;
    *) die "there is no manager '$(race_manager)'" ;;
  esac
}

# --- the result -------------------------------------------------------------------------------------------------

# shellcheck disable=SC2154 # of expect.sh
complaints() { dmesg | grep -E "$kernel_faults"; }
oopsed() { complaints >/run/lab/complaints; }
each_adapter() { # COMMAND: holds for all
  local n
  for ((n = 0; n < LAB_ADAPTERS; n++)); do "$1" "$n" || return 1; done
}
is_active() { port_is "$1" ACTIVE; }
race_over() { oopsed || { each_adapter is_active && module_live vmw_pvrdma; }; }
kernel_ms() { dmesg | sed -nE "s/^\[ *([0-9]+)\.([0-9]{3}).*$1.*/\1\2/p"; } # REGEX: when the kernel logged such a line
link_came_up='vmxnet3 .*vectors allocated'
# Counts links that came up before the driver had probed its last adapter.
links_before_driver() {
  local attached
  attached=$(kernel_ms 'vmw_pvrdma .*attached to device' | sed -n "${LAB_ADAPTERS}p")
  kernel_ms "$link_came_up" | awk -v end="${attached:-999999999}" '$1 < end' | wc -l
}

# Notes a line for this boot: number, manager, oops or sane, links that came before the driver, uptime at the end.
race_note() {
  mkdir -p /var/lib/race
  echo "$BOOT $(race_manager) $(if oopsed; then echo oops; else echo sane; fi) $(links_before_driver) $(uptime_ms)" |
    tee -a /var/lib/race/boots
}
race_sums() {
  awk '{ boots[$2]++; oops[$2] += $3 == "oops"; early[$2] += $4 > 0 }
    END { for (m in boots) printf "%s: %d of %d boots with an oops, %d with a link up before the driver had probed all\n", m, oops[m], boots[m], early[m] }' \
    /var/lib/race/boots
}
# A kernel with an oops does not always shut down, so the notes must be on the disk before.
race_next_boot() {
  sync
  ((BOOT == LAB_BOOTS)) || host reset
  race_sums
}
