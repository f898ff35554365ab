# SPDX-License-Identifier: GPL-2.0-or-later
# summary: Linux 6.12, two adapters, an initramfs that has the driver and brings links up: the driver probes one function there, the agent binds the other, no oops; without the agent the image binds it
# suite: trixie
# adapters: 2
# initrd: own
# boots: ${PVRDMA_LAB_RACE_INITRAMFS_BOOTS:-3}
# cpus: ${PVRDMA_LAB_RACE_INITRAMFS_CPUS:-1}
# timeout: 600
#
# The first boot makes the image. In the others a udev rule in the image brings links up as soon as they appear. The rule takes
# the place of the managers that images have for ip=, clevis and a root on the network. When all functions are probed in a row, as they
# once were, the driver crashes in a part of such boots if there are two CPUs; one emulated CPU runs each boot alike. Before the last
# boot the agent is disabled.

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh
# shellcheck source=tests/lab/guest/race.sh
. /run/lab/race.sh

make_image() {
  printf 'MODULES=list\nBUSYBOX=n\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >/etc/initramfs-tools/conf.d/lab
  printf '%s\n' virtio_pci virtio_blk virtio_console ext4 >/etc/initramfs-tools/modules
  echo 'ACTION=="add", SUBSYSTEM=="net", KERNEL=="e*", RUN+="/sbin/ip link set $name up"' >/etc/udev/rules.d/99-lab-links.rules
  install -m 755 /dev/stdin /etc/initramfs-tools/hooks/lab <<'HOOK'
#!/bin/sh
[ "$1" != prereqs ] || exit 0
. /usr/share/initramfs-tools/hook-functions
copy_exec /sbin/ip /sbin
HOOK
  mkinitramfs -o image "$(uname -r)"
  rm /etc/udev/rules.d/99-lab-links.rules
  hand_over_initrd image
}

driver_in_image() { [ "$(first_line 'vmw_pvrdma .*attached to device')" -lt "$(first_line 'systemd\[1\]: systemd .* running in system mode')" ]; }
override_of() { cat "/sys/bus/pci/devices/$(function_of "$1")/driver_override"; }
nothing_tried() { [[ ! -e /run/pvrdma-agent-executor/ledger.json ]]; }

scenario() {
  if ((BOOT == 1)); then
    wait_boot 120
    make_image
    ((LAB_BOOTS > 2)) || systemctl --no-reload disable pvrdma-agent.service
    sync
    host reset
    return
  fi
  wait_until 150 "the ports are ACTIVE, or the kernel complained" race_over
  ! oopsed || { cat /run/lab/complaints; die "the kernel complained"; }
  expect "the image has loaded the driver" driver_in_image
  expect "the image has brought the links up" each_adapter netdev_up
  expect_equal "no function is held back now" "(null) (null)" "$(override_of 0) $(override_of 1)"
  if ((BOOT < LAB_BOOTS)); then
    wait_until 60 "health says ready" health_is ready
    expect_equal "the agent has bound the function that was held back" "BindFunction $(function_of 1)" \
      "$(ledger -r '[.attempts[] | select(.verb == "BindFunction") | "\(.verb) \(.target)"] | join(" ")')"
    expect_equal "the agent has not reloaded the driver" 0/0 "$(health_query '"\(.executor.reloads)/\(.executor.rebinds)"')"
    ((BOOT < LAB_BOOTS - 1)) || systemctl --no-reload disable pvrdma-agent.service
    sync
    host reset
  else
    wait_boot 120
    expect_equal "the agent is off" inactive "$(systemctl is-active pvrdma-agent.service)"
    expect "the agent has done nothing" nothing_tried
  fi
}
