# summary: the lab itself: real driver, port state, RC traffic, busy driver, the host's side of the port
# install: none
# timeout: 120
#
# What the agent is measured against: nothing here is ours but the emulated host. On vSphere the device also has RoCE v2
# GIDs and RDMA read and write; QEMU's knows send and receive, and calls all its GIDs "IB/RoCE v1".

pingpong() {
  local device
  device=$(rdma_of 0)
  ibv_rc_pingpong -d "$device" -g 0 -n 100 >server.out 2>&1 &
  wait_until 20 "the server listens" sh -c 'ss -ltn | grep -q ":18515 "'
  ibv_rc_pingpong -d "$device" -g 0 -n 100 127.0.0.1 >client.out 2>&1 || { cat server.out client.out; die "ibv_rc_pingpong"; }
  wait
  cat client.out
}

renamed() { [[ $(netdev_of 0) == ens16f0 ]]; }
has_gid() { grep -q ^fe80 "/sys/class/infiniband/$(rdma_of 0)/ports/1/gids/0"; }

scenario() {
  wait_until 60 "udev loads the driver" port_is 0 DOWN
  wait_until 20 "udev has renamed function 0" renamed
  udevadm settle --timeout=20
  ip link set ens16f0 up
  wait_until 10 "the port follows the link" port_is 0 ACTIVE
  ibv_devinfo
  ip link set lo up
  wait_until 10 "the link-local GID is there" has_gid
  pingpong
  bandwidth -d "$(rdma_of 0)" -x 0

  start_job 0
  expect_not "modprobe -r is refused while it runs" modprobe -r vmw_pvrdma
  ip link set ens16f0 down
  wait_until 10 "link down: the port goes down" port_is 0 DOWN
  wait_until 10 "… and the job is told" grep -q PORT_ERR events
  ip link set ens16f0 up
  wait_until 10 "link up: the port comes back" port_is 0 ACTIVE
  host port 0 DOWN
  wait_until 5 "the host takes the port down" port_is 0 DOWN
  expect_equal "its physical state" Disabled "$(port_state 0 phys_state)"
  host port 0 ACTIVE
  wait_until 5 "the host lets go" port_is 0 ACTIVE
  kill "$job"
  wait "$job" || true
  expect "nobody holds it: modprobe -r" modprobe -r vmw_pvrdma
  expect_equal "no device is left" none "$(port_state 0)"
}
