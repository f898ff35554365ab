# SPDX-License-Identifier: GPL-2.0-or-later
# summary: four adapters: a broken one delays no other; readiness.adapters is respected; two in one subnet and a default route are findings
# adapters: 4
# start: snapshot

summary() { health_query .summary; }
others_ready() { adapter_is 0 ready && adapter_is 1 ready && adapter_is 3 ready; }
ready_count() { [[ $(health_query '[.adapters[] | select(.state == "ready")] | length') == "$1" ]]; }
ready_with_gid() { [[ $(health_query '.adapters[0].application_gid.address') == "$1" ]] && ready_count 3; } # ADDRESS of adapter 0
config() { agent_config; systemctl reload pvrdma-agent.service; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect_equal "all four" "4 of 4 adapters ready" "$(summary)"
  # The adapter's link stays down, whatever the agent does.
  config <<'TOML'
[[adapter]]
match  = { pci = "0000:00:12.1" }
manage = "observe"
TOML
  ip link set ens18f0 down
  wait_until 20 "one adapter is broken" ready_count 3
  holds_for 10 "the others are ready all the time" others_ready
  expect "the machine is not ready" grep -qxE 'converging|degraded' <(health_state)
  config <<'TOML'
[readiness]
adapters = 3
[[adapter]]
match  = { pci = "0000:00:12.1" }
manage = "observe"
TOML
  wait_until 15 "readiness.adapters = 3: three ready adapters are enough" health_is ready
  expect_equal "the summary says so" "3 of 4 adapters ready, 3 required" "$(summary)"
  ip link set ens17f0 down
  wait_until 20 "another link, taken down by hand, is up again" netdev_up 1
  wait_until 20 "the others did not wait for the broken one" others_ready

  ip address add 192.168.30.1/24 dev ens16f0
  wait_until 20 "an address is configured: ready, with its GID" ready_with_gid 192.168.30.1
  expect "there is no finding about the subnet" no_finding same-subnet
  ip address add 192.168.30.2/24 dev ens17f0
  wait_until 15 "two adapters in one subnet are a finding" finding same-subnet
  ip address del 192.168.30.2/24 dev ens17f0
  wait_until 15 "other subnets: the finding ends" no_finding same-subnet
  ip route add default via 192.168.30.254 dev ens16f0
  wait_until 60 "a default route over an adapter, which causes no event, is an info" finding default-route
  expect "the machine stays ready" health_is ready
}
