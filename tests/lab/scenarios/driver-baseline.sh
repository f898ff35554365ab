# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the lab itself: the real driver, two adapters with a port each, RC traffic within and between them, a driver in use, the host's side of the port
# install: none
# adapters: 2
# start: snapshot
# loaders: yes
# nics: 1
#
# This is the baseline for the agent: only the host is emulated, and no program of the agent runs. On vSphere the device also has RoCE v2
# GIDs and RDMA read and write; QEMU's knows send and receive, and calls all its GIDs "IB/RoCE v1".

early() {
  expect_not "the driver is not loaded yet" module_loaded vmw_pvrdma
  expect_equal "the boot's number" 1 "$BOOT"
}

pingpong() { # FROM TO: numbers of adapters
  ibv_rc_pingpong -d "$(rdma_of "$2")" -g 0 -n 100 >server.out 2>&1 &
  local server=$!
  wait_until 20 "the server listens" sh -c 'ss -ltn | grep -q ":18515 "'
  ibv_rc_pingpong -d "$(rdma_of "$1")" -g 0 -n 100 127.0.0.1 >client.out 2>&1 ||
    { cat server.out client.out; die "ibv_rc_pingpong failed from adapter $1 to adapter $2"; }
  wait "$server" || { cat server.out; die "the server of ibv_rc_pingpong failed on adapter $2"; }
  cat client.out
}

renamed() { [[ "$(netdev_of 0) $(netdev_of 1)" == "ens16f0 ens17f0" ]]; }
ready() { port_is "$1" ACTIVE && grep -q ^fe80 "/sys/class/infiniband/$(rdma_of "$1")/ports/1/gids/0"; }

scenario() {
  wait_until 60 "the driver has both adapters" sh -c '[ "$(ls /sys/class/infiniband | wc -l)" = 2 ]'
  wait_until 20 "udev has renamed both functions 0" renamed
  udevadm settle --timeout=20
  expect "the plain NIC is there as well" test -e /sys/bus/pci/devices/0000:00:12.0/net/ens18f0
  wait_until 10 "the driver is live" module_live vmw_pvrdma
  expect_equal "with its link down the port is" DOWN "$(port_state 0)"
  ip link set ens16f0 up
  wait_until 20 "the first port follows the link, with its link-local GID" ready 0
  expect_equal "the second has its own state" DOWN "$(port_state 1)"
  ip link set ens17f0 up
  wait_until 20 "the second port is ready" ready 1
  host port 1 DOWN
  wait_until 5 "the host takes the second port down" port_is 1 DOWN
  expect_equal "the first port stays" ACTIVE "$(port_state 0)"
  host port 1 ACTIVE
  wait_until 5 "the host lets the second port come up" port_is 1 ACTIVE

  ibv_devinfo
  ip link set lo up
  pingpong 0 0
  pingpong 1 0
  bandwidth -d "$(rdma_of 0)" -x 0

  start_job 0
  expect_not "modprobe -r is refused while a job runs" modprobe -r vmw_pvrdma
  ip link set ens16f0 down
  wait_until 10 "link down: the port goes down" port_is 0 DOWN
  wait_until 10 "the job sees PORT_ERR" grep -q PORT_ERR events
  ip link set ens16f0 up
  wait_until 10 "link up: the port is ACTIVE again" port_is 0 ACTIVE
  host port 0 DOWN
  wait_until 5 "the host takes the port down" port_is 0 DOWN
  expect_equal "its physical state" Disabled "$(port_state 0 phys_state)"
  host port 0 ACTIVE
  wait_until 5 "the host lets the port come up" port_is 0 ACTIVE
  kill "$job"
  wait "$job" || true
  expect "no process holds it: modprobe -r" modprobe -r vmw_pvrdma
  expect_equal "no device is left" none "$(port_state 0)"
}
