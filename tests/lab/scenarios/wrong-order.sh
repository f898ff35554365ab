# SPDX-License-Identifier: GPL-2.0-or-later
# summary: vmw_pvrdma is older than a module that must precede it, and the port does not come up: the driver is reloaded last, once, and ready; if no module is loaded, the driver is loaded last
# adapters: 1
# start: snapshot
# port: DOWN
#
# QEMU's port follows the link in any order; on vSphere the wrong order keeps it down. Here the host's side
# holds the port down until the old driver has gone.

early() {
  modprobe vmxnet3
  load_bare vmw_pvrdma
  stat -c %i /sys/module/vmw_pvrdma >/run/driver-inode
}

driver_replaced() {
  local now
  now=$(stat -c %i /sys/module/vmw_pvrdma 2>/dev/null) && [[ $now != "$(cat /run/driver-inode)" ]]
}

# After this only the agent knows the order: neither modprobe.d nor udev, which loads drivers for new devices, does.
load_all_by_agent() {
  systemctl stop pvrdma-agent.service
  rm /usr/lib/modprobe.d/pvrdma-agent.conf
  modprobe -r vmw_pvrdma rdma_ucm ib_umad mlx4_ib vmxnet3
  expect_equal "no module is loaded" "" "$(loaded_in_order)"
  systemctl start pvrdma-agent.service
  wait_until 60 "health says ready" health_is ready
  expect_equal "all modules are loaded" 6 "$(loaded_in_order | wc -w)"
  expect_equal "the module that the agent loaded last" vmw_pvrdma "$(loaded_last)"
}

# The agent pauses before it loads a module again that it has loaded a moment before.
remove_again() {
  modprobe -r rdma_ucm
  wait_until 20 "the agent loads a module again" module_live rdma_ucm
  modprobe -r rdma_ucm vmw_pvrdma # In this order, as the agent loads the driver again at once.
  wait_until 20 "the agent loads the driver again" module_live vmw_pvrdma
  wait_until 20 "and the module that precedes the driver" module_live rdma_ucm
  expect_equal "the module that the agent loaded last, after a pause" vmw_pvrdma "$(loaded_last)"
}

scenario() {
  wait_until 60 "the driver is reloaded" driver_replaced
  host port 0 ACTIVE
  wait_until 15 "health says ready" health_is ready
  expect_equal "the module that was loaded last" vmw_pvrdma "$(loaded_last)"

  load_all_by_agent
  holds_for 12 "no second reload" reloads_are 1
  expect_equal "reloads in health" 1 "$(health_query .executor.reloads)"
  remove_again
  wait_until 15 "health says ready" health_is ready
  expect_equal "there was no further reload" 1 "$(health_query .executor.reloads)"
}
