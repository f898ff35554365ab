# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the boot scenarios of tests/bench: each way to bring the adapter up, and the time when its port was ACTIVE.
# shellcheck shell=bash

# Records every change of the port's state with the uptime, from early boot on. Sysfs sends no event for a port, so it
# looks every 20 ms.
install_poller() {
  cat >/usr/local/sbin/port-poller <<'P'
#!/bin/bash
exec 8<> <(:)
last=
while :; do
  # Found by the function, because udev renames the device.
  state=gone
  for file in /sys/bus/pci/devices/0000:00:10.1/infiniband/*/ports/1/state; do
    { read -r state <"$file"; } 2>/dev/null || true
  done
  if [[ $last != "$state" ]]; then
    last=$state
    read -r uptime _ </proc/uptime
    echo "$uptime ${state#*: }" >>/run/port-changes
  fi
  read -r -t 0.02 -u 8
done
P
  chmod 755 /usr/local/sbin/port-poller
  cat >/etc/systemd/system/port-poller.service <<'U'
[Unit]
DefaultDependencies=no
[Service]
ExecStart=/usr/local/sbin/port-poller
[Install]
WantedBy=sysinit.target
U
  systemctl enable port-poller.service
}

install_recipe() {
  cat >/etc/rc.local <<'R'
#!/bin/bash
/sbin/modprobe mlx4_ib
/sbin/modprobe ib_umad
/sbin/modprobe rdma_cm
/sbin/modprobe rdma_ucm
/sbin/modprobe -r vmw_pvrdma
/sbin/modprobe vmw_pvrdma
exit 0
R
  chmod 755 /etc/rc.local
}
rc_local_has_run() { [[ $(systemctl show -P ActiveState rc-local.service) == active ]]; }

# With vmxnet3, at its best: without it, the driver may be loaded before the netdev is there, and its port does not come
# up.
install_modules_load() { printf '%s\n' vmxnet3 mlx4_ib ib_umad rdma_cm rdma_ucm vmw_pvrdma >/etc/modules-load.d/rdma.conf; }

# In every scenario networkd brings the link up and sets its address.
install_network() {
  cat >/etc/systemd/network/10-rdma.network <<'N'
[Match]
Name=ens16f0
[Network]
Address=192.168.30.201/24
N
  systemctl enable systemd-networkd.service
}

# For `initrd: own`: the next boot takes the distribution's initramfs, with only this guest's drivers, because all
# drivers would take an emulated CPU minutes. With the package installed the driver is among them.
install_initramfs() {
  printf 'MODULES=list\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >/etc/initramfs-tools/conf.d/bench
  printf '%s\n' virtio_pci virtio_blk virtio_console ext4 >/etc/initramfs-tools/modules
  update-initramfs -c -k "$(uname -r)"
  hand_over_initrd "/boot/initrd.img-$(uname -r)"
}

# Prints the uptime of the last change to ACTIVE, once nothing has changed for a while and the boot has ended; the time since
# udev renamed the netdev, which Linux before 6.2 refuses for a link that is up; and the CPU time of these units.
report_active() { # KEY UNITS
  wait_boot 90
  wait_until 60 "the port is ACTIVE" port_is 0 ACTIVE
  holds_for 5 "and stays so" port_is 0 ACTIVE
  cat /run/port-changes
  # The steps between the rename and ACTIVE.
  journalctl -b -o short-monotonic --no-pager | grep -E 'ens16f0|0000:00:10.1|LoadModule'
  # networkd takes a link that is up down for some 15 ms while it configures it; the poller does not see so short a
  # time.
  echo "BENCH $1-networkd-up $(journalctl -b -o short-monotonic --no-pager -u systemd-networkd |
    sed -n 's/^\[ *\([0-9.]*\)\].* ens16f0: Link UP$/\1/p' | tail -n 1)"
  local active renamed
  active=$(awk '$2 == "ACTIVE" { last = $1 } END { print last }' /run/port-changes)
  renamed=$(dmesg | sed -n 's/^\[ *\([0-9.]*\)\].* ens16f0: renamed from .*/\1/p' | tail -n 1)
  echo "BENCH $1 $active"
  echo "BENCH $1-after-rename $(awk -v active="$active" -v renamed="$renamed" 'BEGIN { print active - renamed }')"
  echo "BENCH $1-cpu-ms $(systemctl show -P CPUUsageNSec "$2" | awk '{ sum += $1 } END { printf "%.0f", sum / 1e6 }')"
}

# Boots the system that these functions have prepared, and measures the boot.
measure_boot() { # KEY FUNCTION…
  local key=$1 prepare units
  case $key in
    *agent) units='pvrdma-agent*.service' ;;
    *modules-load) units=systemd-modules-load.service ;;
    *) units=rc-local.service ;;
  esac
  if [[ $BOOT == 1 ]]; then
    for prepare in install_poller install_network "${@:2}"; do "$prepare"; done
  else
    [[ $key != *recipe ]] || wait_until 90 "rc.local has run" rc_local_has_run
    report_active "$key" "$units"
    [[ $key != *agent ]] || wait_until 20 "health says ready" health_is ready
  fi
}
