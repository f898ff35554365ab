# summary: vmw_pvrdma is older than a module that must precede it, and the port does not come up: reloaded last, once, ready
# adapters: 1
# start: snapshot
# port: DOWN
#
# QEMU's port follows the link whatever the order was; on vSphere the order is what keeps it down. Here the host's side
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

scenario() {
  wait_until 60 "the driver is reloaded" driver_replaced
  host port 0 ACTIVE
  wait_until 15 "health says ready" health_is ready
  expect_equal "the youngest module" vmw_pvrdma \
    "$(grep -oE '^(vmxnet3|mlx4_ib|ib_umad|rdma_cm|rdma_ucm|vmw_pvrdma) ' /proc/modules | head -1 | tr -d ' ')"
  holds_for 12 "no second reload" reloads_are 1
  expect_equal "reloads in health" 1 "$(health_query .executor.reloads)"
}
