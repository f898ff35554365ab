# SPDX-License-Identifier: GPL-2.0-or-later
# summary: NetworkManager has the links (keyfile, static and DHCP): the agent observes them, notices that NetworkManager starts late, restarts and is switched off, and never works against it; a bus that hangs delays nothing
# adapters: 2
# start: snapshot
# network: yes
# timeout: 400
# waits: yes

# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh

# A look then takes half a second longer, not the ninety seconds that libsystemd would wait for each adapter.
bus_hangs() {
  local bus agent executor round answer
  bus=$(main_pid dbus.service) agent=$(agent_pid)
  executor=$(systemctl show -P NRestarts pvrdma-agent-executor.service)
  kill -STOP "$bus"
  for round in {1..3}; do # a look that hangs for more than 10 s shows by then
    pause_ms 10000
    answer=$(timeout 2 pvrdma-agentctl --json health | gojq .observed_ms_ago) || true
    [[ -n $answer && $answer -lt 15000 ]] || die "round $round: the bus daemon is stopped, and the last look is '$answer' ms old"
  done
  echo "ok: the bus daemon is stopped for 30 s: health is answered, and no look is older than 15 s"
  kill -CONT "$bus"
  expect_equal "the agent is the same process" "$agent" "$(agent_pid)"
  expect_equal "the executor was not restarted" "$executor" "$(systemctl show -P NRestarts pvrdma-agent-executor.service)"
  wait_until 60 "the bus goes on: NetworkManager still manages adapter 1" managed_by 1 NetworkManager
  wait_until 30 "health says ready" health_is ready
}

# NetworkManager 1.42 may leave a request without an answer that comes while it starts up.
has_started_up() { [[ $(busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Startup) == "b false" ]]; }
link_down() { ! netdev_up "$1"; } # N
is_switched_off() {
  wait_until 30 "NetworkManager has started up" has_started_up
  timeout 20 nmcli networking off
  wait_until 30 "switched off, NetworkManager takes the link of adapter 1 down" link_down 1
  pause_ms 10000 # several of the agent's looks
  expect "the agent does not bring it up" link_down 1
  expect "the link is still NetworkManager's" managed_by 1 NetworkManager
  timeout 20 nmcli networking on
  wait_until 60 "switched on, NetworkManager brings it up" netdev_up 1
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect "without a network manager the agent manages the links" managed_by 0 agent
  keyfile ens16f0 'method=auto' # as the installer of Enterprise Linux makes one, by which DHCP would give another address
  keyfile ens17f0 'method=auto'
  systemctl start NetworkManager.service
  wait_until 60 "started late, NetworkManager takes adapter 1" managed_by 1 NetworkManager
  wait_until 30 "NetworkManager has started up" has_started_up
  follow_guide enterprise-linux networkmanager
  wait_until 60 "NetworkManager takes adapter 0" managed_by 0 NetworkManager
  wait_until 60 "the static address" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 60 "the address by DHCP" has_ipv4 ens17f0 192.168.31.
  wait_until 30 "health says ready" health_is ready
  pvrdma-agentctl health

  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
addresses = ["192.168.30.202/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 15 "another address is a finding, with nmcli's command" \
    remedy_says address-missing '+ipv4.addresses 192.168.30.202/24`'
  holds_for 3 "the address is not set" has_no_ipv4 ens16f0 192.168.30.202/24
  expect "the commands of the finding work" bash -ec "$(remedy_of address-missing | grep -o '`[^`]*`' | tr -d '`')"
  wait_until 15 "the address is set" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 15 "the finding is gone" no_finding address-missing
  systemctl restart NetworkManager.service
  wait_until 30 "restarted, NetworkManager still has adapter 0" managed_by 0 NetworkManager
  wait_until 30 "restarted, NetworkManager still has adapter 1" managed_by 1 NetworkManager
  is_switched_off

  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
manage    = "agent"
addresses = ["192.168.30.203/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 15 "two owners are a finding, with the drop-in" remedy_says two-owners /etc/NetworkManager/conf.d/90-pvrdma-ens16f0.conf
  remedy_of two-owners
  printf '%s\n' '[keyfile]' 'unmanaged-devices+=mac:00:50:56:00:00:10' >/etc/NetworkManager/conf.d/90-pvrdma-ens16f0.conf
  systemctl reload NetworkManager.service
  wait_until 30 "NetworkManager has let go" no_finding two-owners
  wait_until 30 "the agent's address is set" has_ipv4 ens16f0 192.168.30.203/24
  wait_until 30 "health says ready" health_is ready
  bus_hangs
  systemctl stop NetworkManager.service
  holds_for 3 "NetworkManager stops: adapter 0 keeps its address" has_ipv4 ens16f0 192.168.30.203/24
}
