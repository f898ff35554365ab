# SPDX-License-Identifier: GPL-2.0-or-later
# summary: vmw_pvrdma was loaded before vmxnet3, its probe failed: bound again, ready, the module not reloaded
# adapters: 1

early() {
  expect_not "vmxnet3 is not there yet" module_loaded vmxnet3
  load_bare vmw_pvrdma
  expect "the probe failed" sh -c "dmesg | grep -q 'failed to get vmxnet3 device'"
  stat -c %i /sys/module/vmw_pvrdma >/run/driver-inode
  modprobe vmxnet3
  expect_not "nothing binds the function by itself" driver_bound 0
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect_equal "the port" ACTIVE "$(port_state 0)"
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
  expect_equal "the module is the one that was loaded first" "$(cat /run/driver-inode)" "$(stat -c %i /sys/module/vmw_pvrdma)"
  expect_equal "one bind" 1 "$(ledger '[.attempts[] | select(.verb == "BindFunction")] | length')"
}
