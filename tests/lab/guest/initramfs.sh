# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the scenarios initramfs-*: an initramfs that the guest makes itself, by the package's trigger, and boots.
# shellcheck shell=bash
# Emulated, an image with the distribution's own settings would take minutes: the scenarios leave out all drivers but
# those of this guest (virtio_console: the runner looks for its ports at once). vmw_pvrdma comes by the agent's hook.

# The kernel's file, which the guest has not, and an image from before the agent came make package management's own
# trigger refresh this kernel's.
refresh_by_package() { # PATTERN COMMAND…: what the package manager is to do, and what tells that it made the image
  local pattern=$1 image began
  shift
  image=/boot/initrd.img-$(uname -r)
  : >"/boot/vmlinuz-$(uname -r)"
  : >"$image"
  touch -d 2001-01-01 "$image"
  look_now
  wait_until 60 "the image is too old" finding initramfs-old
  finding initramfs-old | gojq -r '.summary, .remedy'
  wait_until 60 "which keeps nobody waiting: health says ready" health_is ready
  expect "beside it" finding initramfs-old
  began=$(now_ms)
  "$@" 2>&1 | tee install.out
  echo "installed within $(($(now_ms) - began)) ms"
  expect_equal "the initramfs was refreshed once" 1 "$(grep -ci "$pattern" install.out)"
  look_now
  wait_until 60 "the image is not too old" no_finding initramfs-old
  wait_until 30 "health says ready" health_is ready
  hand_over_initrd "$image"
}

# What the forecast of the next boot says of the image, having looked into it.
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
  expect_equal "the youngest is the driver" vmw_pvrdma "$(loaded_last)"
  expect_equal "no module is missing" 6 "$(loaded_in_order | wc -w)"
  expect_equal "reloads and rebinds" 0/0 "$(health_query '"\(.executor.reloads)/\(.executor.rebinds)"')"
  expect "the boot left the image's note" cmp /run/pvrdma-agent.initramfs /usr/lib/modprobe.d/pvrdma-agent.conf
  expect "the image is not too old" no_finding initramfs-old
  expect_equal "so says who looks into it" "yes holds the driver, and modprobe.d as it is now" "$(forecast_of_image)"
}
# By itself the agent looks at the image every half minute; any event of its devices makes it look at everything.
look_now() { udevadm trigger --action=change --subsystem-match=infiniband; }
expect_old_once_changed() {
  echo 'options vmw_pvrdma lab=1' >/etc/modprobe.d/lab.conf
  look_now
  wait_until 60 "the image is too old for what was changed" finding initramfs-old
  expect_equal "so says who looks into it" "no holds the driver, and an older modprobe.d" "$(forecast_of_image)"
  rm /etc/modprobe.d/lab.conf
  look_now
  wait_until 60 "changed back, it is not" no_finding initramfs-old
}
