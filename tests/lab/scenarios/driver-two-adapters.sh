# summary: the lab itself: two adapters, each with a port of its own, traffic from one to the other
# install: none
# adapters: 2
# nics: 1

early() {
  expect_not "nothing has loaded the driver yet" module_loaded vmw_pvrdma
  expect_equal "the boot's number" 1 "$BOOT"
}

renamed() { [[ "$(netdev_of 0) $(netdev_of 1)" == "ens16f0 ens17f0" ]]; }
ready() { port_is "$1" ACTIVE && grep -q ^fe80 "/sys/class/infiniband/$(rdma_of "$1")/ports/1/gids/0"; }

scenario() {
  wait_until 60 "the driver has both adapters" sh -c '[ "$(ls /sys/class/infiniband | wc -l)" = 2 ]'
  wait_until 20 "udev has renamed them" renamed
  udevadm settle --timeout=20
  expect "the plain NIC is there as well" test -e /sys/bus/pci/devices/0000:00:12.0/net/ens18f0
  wait_until 10 "the driver is live" module_live vmw_pvrdma
  ip link set ens16f0 up
  wait_until 20 "the first is ready" ready 0
  expect_equal "the second has its own state" DOWN "$(port_state 1)"
  ip link set ens17f0 up
  wait_until 20 "the second is ready" ready 1
  host port 1 DOWN
  wait_until 5 "the host takes one down" port_is 1 DOWN
  expect_equal "… and not the other" ACTIVE "$(port_state 0)"
  host port 1 ACTIVE

  ibv_rc_pingpong -d "$(rdma_of 0)" -g 0 -n 50 >server.out 2>&1 &
  ip link set lo up
  wait_until 20 "the server listens" sh -c 'ss -ltn | grep -q ":18515 "'
  ibv_rc_pingpong -d "$(rdma_of 1)" -g 0 -n 50 127.0.0.1 || { cat server.out; die "ibv_rc_pingpong from adapter 1 to adapter 0"; }
  wait
}
