# SPDX-License-Identifier: GPL-2.0-or-later
# summary: configured MTU and addresses are set and kept, and addresses are removed when they are no longer configured
# adapters: 1
# start: snapshot
# network: yes

configure() { # ADDRESS…
  local list
  list=$(printf '"%s", ' "$@")
  mkdir -p /etc/pvrdma-agent
  cat >/etc/pvrdma-agent/pvrdma-agent.toml <<TOML
[[adapter]]
match     = { mac = "00:50:56:00:00:10" }
mtu       = 9000
addresses = [${list%, }]
TOML
  systemctl reload pvrdma-agent.service
}
has() { ip -o address show dev ens16f0 | grep -q " $1 "; }
has_not() { ! has "$1"; }
valid() { ip -o address show dev ens16f0 | grep " $1 " | grep -qv tentative; }
gid_of() { grep -qi "$1" /sys/class/infiniband/rocep0s16f1/ports/1/gids/*; }
duplicate_named() { pvrdma-agentctl health --json | gojq -e '.findings[] | select(.summary | contains("192.168.30.2/24"))' | grep -q '52:5[0-9a-f]:'; }

ask_executor() { # as the agent's user, with a request that agrees with the configuration
  setpriv --reuid pvrdma-agent --regid pvrdma-agent --clear-groups python3 -c "import socket
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
s.connect('/run/pvrdma-agent-executor/io.pvrdma.Executor')
s.sendall(b'{\"method\": \"io.pvrdma.Executor.ConfigureLink\", \"parameters\": {\"function\": \"0000:00:10.1\", \"netdev\": \"ens16f0\", \"addresses\": [], \"removes\": true}}\0')
print(s.recv(65536).rstrip(b'\0').decode())" >answer
  cat answer
}

# An address is removed together with its GID, which queue pairs of a job may use.
no_longer_configured_under_a_job() {
  start_job 0
  rm /etc/pvrdma-agent/pvrdma-agent.toml
  systemctl reload pvrdma-agent.service
  wait_until 15 "an address is no longer configured while a job runs: a finding names the job" held_by address-waits "$job" ibv_asyncwatch
  expect "the finding names the address" sh -c 'pvrdma-agentctl health --json | grep -q "192.168.30.202/24 is no longer configured"'
  ask_executor
  expect "the executor, asked directly, keeps the address too" gojq -e '.parameters.result | .outcome == "in_use" and (.holders | length) == 1' answer
  holds_for 5 "the address stays" has 192.168.30.202/24
  expect "the address keeps its GID" gid_of c0a8:1eca
  kill "$job"
  wait "$job" || true
  wait_until 40 "the job has ended: the agent's addresses are removed" has_not 192.168.30.202/24
  wait_until 10 "the finding ends" no_finding address-waits
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect_equal "nothing is configured: the MTU is unchanged" 1500 "$(cat /sys/class/net/ens16f0/mtu)"
  ip address add 192.168.30.9/24 dev ens16f0

  configure 192.168.30.201/24 fd00:30::1/64
  wait_until 15 "the IPv4 address" has 192.168.30.201/24
  wait_until 15 "the IPv6 address is set, and no other host has it" valid fd00:30::1/64
  wait_until 15 "health says ready" health_is ready
  expect_equal "the MTU" 9000 "$(cat /sys/class/net/ens16f0/mtu)"
  expect "the RDMA device has a GID for it" gid_of c0a8:1ec9
  expect "the address works" ping -c 1 -W 5 -I 192.168.30.201 192.168.30.2
  pvrdma-agentctl health

  ip address del 192.168.30.201/24 dev ens16f0
  wait_until 20 "an address removed by hand is set again" has 192.168.30.201/24
  wait_until 15 "health says ready" health_is ready
  systemctl restart pvrdma-agent.service
  wait_until 15 "restarted: ready" health_is ready
  expect "the addresses are set" has 192.168.30.201/24

  configure 192.168.30.202/24
  wait_until 15 "another address is configured: it is set" has 192.168.30.202/24
  wait_until 15 "the old ones are removed" has_not 192.168.30.201/24
  wait_until 15 "the old IPv6 address is removed" has_not fd00:30::1/64
  expect "an address that the agent has not set stays" has 192.168.30.9/24

  configure 192.168.30.202/24 192.168.30.2/24
  wait_until 30 "an address of another host: a finding names its MAC" duplicate_named
  expect_not "it is not set" has 192.168.30.2/24
  expect "the other one stays" has 192.168.30.202/24
  configure 192.168.30.202/24
  wait_until 20 "the address is no longer configured: ready" health_is ready

  ip link set ens16f0 address 02:00:00:00:00:10
  pvrdma-agentctl --json health >/dev/null || true
  holds_for 5 "with another MAC it is the same adapter" has 192.168.30.202/24
  expect "the executor knows this too" no_finding action-refused
  ip address del 192.168.30.202/24 dev ens16f0
  wait_until 20 "an address removed by hand is set again" has 192.168.30.202/24
  ip link set ens16f0 address 00:50:56:00:00:10

  no_longer_configured_under_a_job
  expect "an address that the agent has not set stays" has 192.168.30.9/24
}
