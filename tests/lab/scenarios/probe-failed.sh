# SPDX-License-Identifier: GPL-2.0-or-later
# summary: vmw_pvrdma was loaded before vmxnet3 and its probe failed: the agent binds the function again, ready, the module is not reloaded
# adapters: 1
# start: snapshot

early() {
  udevadm control --stop-exec-queue # It would load vmxnet3 first.
  echo 1 >/sys/bus/pci/rescan
  expect_not "vmxnet3 is not loaded yet" module_loaded vmxnet3
  load_bare vmw_pvrdma
  expect "the probe failed" sh -c "dmesg | grep -q 'failed to get vmxnet3 device'"
  stat -c %i /sys/module/vmw_pvrdma >/run/driver-inode
  modprobe vmxnet3
  expect_not "without the agent the function stays unbound" driver_bound 0
  udevadm control --start-exec-queue
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect_equal "the port" ACTIVE "$(port_state 0)"
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
  expect_equal "the module was not reloaded" "$(cat /run/driver-inode)" "$(stat -c %i /sys/module/vmw_pvrdma)"
  expect_equal "one bind" 1 "$(ledger '[.attempts[] | select(.verb == "BindFunction")] | length')"
}
