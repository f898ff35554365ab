# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the scenarios initramfs-*: the guest makes an initramfs itself, by the package's trigger, and boots from it.
# shellcheck shell=bash
# An image with the distribution's own settings would take minutes on an emulated CPU, so the scenarios include only drivers
# of this guest (virtio_console, because the runner looks for its ports at once). The agent's hook adds vmw_pvrdma.

small_dracut() {
  cat >/etc/dracut.conf.d/lab.conf <<'CONF'
dracutmodules="base kernel-modules rootfs-block udev-rules fs-lib pvrdma-agent"
drivers="virtio_pci virtio_blk virtio_console ext4"
nofscks="yes"
compress="zstd --fast=20"
CONF
}

# The trigger of package management refreshes a kernel's image if the kernel's file, which the guest lacks, and an older
# image exist.
refresh_by_package() { # PATTERN COMMAND…: a command of the package manager, and a line of its output about the image
  local pattern=$1 image began
  shift
  image=/boot/initrd.img-$(uname -r)
  : >"/boot/vmlinuz-$(uname -r)"
  : >"$image"
  touch -d 2001-01-01 "$image"
  look_now
  wait_until 60 "the image is too old" finding initramfs-old
  finding initramfs-old | gojq -r '.summary, .remedy'
  wait_until 60 "health says ready nevertheless" health_is ready
  expect "the finding is still there" finding initramfs-old
  began=$(now_ms)
  "$@" >install.out 2>&1 || { cat install.out; die "$*"; }
  cat install.out
  echo "installed within $(($(now_ms) - began)) ms"
  expect_equal "the initramfs was refreshed once" 1 "$(grep -ci "$pattern" install.out)"
  look_now
  wait_until 60 "the image is not too old" no_finding initramfs-old
  wait_until 30 "health says ready" health_is ready
  hand_over_initrd "$image"
}

# The row of doctor --next-boot about the image, which doctor has unpacked.
forecast_of_image() {
  { pvrdma-agentctl doctor --next-boot --json || true; } |
    gojq -r '.kernels[] | select(.running) | .checks[] | select(.check == "initramfs") | "\(.outlook) \(.says)"'
}
first_line() { dmesg | grep -n -m 1 -e "$1" | cut -d: -f1; }
expect_early_driver() {
  local driver system
  driver=$(first_line 'vmw_pvrdma .*attached to device') system=$(first_line 'systemd\[1\]: systemd .* running in system mode')
  expect "the initramfs has loaded the driver (line $driver of the kernel's log, systemd at $system)" [ "$driver" -lt "$system" ]
  wait_until 60 "health says ready" health_is ready
  expect_equal "the driver was loaded last" vmw_pvrdma "$(loaded_last)"
  expect_equal "no module is missing" 6 "$(loaded_in_order | wc -w)"
  expect_equal "reloads and rebinds" 0/0 "$(health_query '"\(.executor.reloads)/\(.executor.rebinds)"')"
  expect "the boot left the image's note" cmp /run/pvrdma-agent.initramfs /usr/lib/modprobe.d/pvrdma-agent.conf
  expect "the image is not too old" no_finding initramfs-old
  expect_equal "doctor --next-boot says the same" "yes holds the driver, and modprobe.d as it is now" "$(forecast_of_image)"
}
# The agent looks at the image every half minute, and at each event of an RDMA device.
look_now() { udevadm trigger --action=change --subsystem-match=infiniband; }
expect_old_once_changed() {
  echo 'options vmw_pvrdma lab=1' >/etc/modprobe.d/lab.conf
  look_now
  wait_until 60 "the image is older than modprobe.d" finding initramfs-old
  expect_equal "doctor --next-boot says the same" "no holds the driver, and an older modprobe.d" "$(forecast_of_image)"
  rm /etc/modprobe.d/lab.conf
  look_now
  wait_until 60 "with modprobe.d as before, the image is not too old" no_finding initramfs-old
}
