# SPDX-License-Identifier: GPL-2.0-or-later
# summary: an interface is moved to another network namespace, as for a container: RDMA goes there with it; the agent leaves it there, reports a finding, and configures it again when it is back
# adapters: 1
# start: snapshot

inside() { ip netns exec job "$@"; }
gid_of_address() { # the index of the GID of the address inside
  grep -lx '0000:0000:0000:0000:0000:ffff:c0a8:1e05' "/sys/class/infiniband/$(rdma_of 0)/ports/1/gids/"* 2>/dev/null | sed 's#.*/##' | grep .
}
messages_pass() {
  local words=(ibv_rc_pingpong -d "$(rdma_of 0)" -g "$(gid_of_address)" -n 50)
  inside "${words[@]}" >server.out 2>&1 &
  local server=$!
  wait_until 20 "a server listens" sh -c "ip netns exec job ss -ltn | grep -q ':18515 '"
  timeout 40 ip netns exec job "${words[@]}" 127.0.0.1 >client.out 2>&1 || { cat server.out client.out; die "the client"; }
  wait "$server" || { cat server.out client.out; die "the server"; }
  cat client.out
}

# No kernel moves the RDMA device of vmw_pvrdma alone, as the driver cannot take a device from its users.
# The kernel changes the mode only while init_net is the only namespace (rdma_compatdev_set() of
# drivers/infiniband/core/device.c, Linux 6.1, returns EBUSY), and a kernel worker removes deleted namespaces later.
not_moved_alone() {
  wait_until 30 "the kernel goes to exclusive mode" rdma system set netns exclusive
  ip netns add alone
  expect_not "the kernel moves no RDMA device of vmw_pvrdma" rdma dev set "$(rdma_of 0)" netns alone
  ip netns delete alone
  wait_until 30 "the kernel goes back to shared mode" rdma system set netns shared
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  agent_config <<<$'[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.201/24"]'
  systemctl reload pvrdma-agent.service
  wait_until 20 "the address is set" has_ipv4 ens16f0 192.168.30.201/24
  ip netns add job
  ip link set ens16f0 netns job
  wait_until 20 "the interface is elsewhere: there is a finding" finding netdev-elsewhere
  expect "it is the only finding" sh -c "[ \"\$(pvrdma-agentctl --json health | gojq '.findings | length')\" = 1 ]"
  expect "health says degraded" health_is degraded
  inside ip link set lo up
  inside ip link set ens16f0 up
  inside ip address add 192.168.30.5/24 dev ens16f0
  wait_until 10 "RDMA works in the namespace: the port is ACTIVE" port_is 0 ACTIVE
  wait_until 10 "the port has a GID of the address there" gid_of_address
  expect "messages pass" messages_pass
  holds_for 8 "the agent leaves the interface there" inside ip link show ens16f0
  expect_equal "the driver is not reloaded" 0 "$(health_query .executor.reloads)"
  ip netns delete job
  wait_until 30 "the namespace ends: the interface is back, with its address" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 30 "health says ready" health_is ready
  expect "the finding has ended" no_finding netdev-elsewhere
  not_moved_alone
}
