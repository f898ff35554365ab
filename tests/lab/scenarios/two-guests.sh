# SPDX-License-Identifier: GPL-2.0-or-later
# summary: two guests: IP, RC and UD traffic and rdma_cm between them, by paths with a delay, a rate and losses, and ports held down
# guests: 2
# start: snapshot
# timeout: 600
#
# The agent is masked, so that the scenarios with the agent share their snapshot with this one, which is about the lab itself.
# QEMU's device wakes no process that waits for a completion, and has no RDMA read, which rping needs. So these programs poll and send.

# shellcheck source=tests/lab/guest/pair.sh
. /run/lab/pair.sh

early() { systemctl mask --runtime pvrdma-agent.service; }

join() { # NUMBER: the adapter comes up, with an address, on that guest
  modprobe -a ib_umad rdma_ucm vmw_pvrdma
  wait_until 20 "the adapter has its names" sh -c '[ -e /sys/class/infiniband/rocep0s16f1 ]'
  ip link set ens16f0 up
  ip addr add "192.168.30.$1/24" dev ens16f0
  wait_until 20 "the port is ACTIVE" port_is 0 ACTIVE
  wait_until 15 "the address has its GID" gid_index "$1"
}

traffic() {
  between "RC" ibv_rc_pingpong -d rocep0s16f1 -n 200 -s 4096 -c
  between "UD" ibv_ud_pingpong -d rocep0s16f1 -n 50 -s 1024 -r 200
  between "RC, messages of 1 MB" ib_send_bw -d rocep0s16f1 -Q 1 -n 20 -s 1000000
  # No RC by rdma_cm: ucmatose and rping ask for RDMA reads, and perftest 4.5 -R connects a second time, which is refused
  # where its server does not listen again yet.
  on 2 serve_rdma_cm udaddy
  expect "UD, by rdma_cm: the client" timeout 60 udaddy -s 192.168.30.2
  expect "UD, by rdma_cm: the server" on 2 served
}

# Bounds that hold on a busy machine too: nothing is faster than its path.
paths() {
  between "latency of the plain path" ib_send_lat -d rocep0s16f1 -n 100 -s 2
  expect "the latency is below 100 ms" at_most "$(figure 5)" 100000
  host path rdma 100000 20
  between "latency of a slow path" ib_send_lat -d rocep0s16f1 -n 10 -s 2
  expect "the latency is 100 ms or more ($(figure 5) us)" at_least "$(figure 5)" 100000
  between "bandwidth of a path of 20 MB/s" ib_send_bw -d rocep0s16f1 -Q 1 -n 20 -s 1000000
  expect "the bandwidth is within the limit ($(figure 4))" at_most "$(figure 4)" 21
  host path rdma 0 0
  host path net 20000 0
  expect "IP takes 20 ms each way" sh -c "ping -c 3 -i 0.2 192.168.30.2 | awk -F/ '/^rtt/ { is_slow = \$5 >= 40 } END { exit !is_slow }'"
  host path net 0 0
}

fails() { # NAME: the client's send fails, with the status of a peer that does not answer
  on 2 serve 18515 ibv_rc_pingpong -d rocep0s16f1 -g "$(on 2 gid_index 2)" -n 20
  timeout 60 ibv_rc_pingpong -d rocep0s16f1 -g "$(gid_index 1)" -n 20 192.168.30.2 >client.out 2>&1 || true
  on 2 pkill -x ibv_rc_pingpong || true
  on 2 served || true
  expect "$1: the send fails" grep -q "Failed status transport retry counter exceeded" client.out
}

losses() {
  host path rdma lost
  fails "a path that loses everything"
  host path rdma 0 0
  on 2 host port 0 DOWN
  fails "the peer's host holds its port down"
  on 2 host port 0 ACTIVE
  between "RC after the losses" ibv_rc_pingpong -d rocep0s16f1 -n 50 -c
}

scenario() {
  join 1
  on 2 join 2
  expect "IP between the guests" ping -c 2 -W 5 192.168.30.2
  traffic
  paths
  losses
}
