# SPDX-License-Identifier: GPL-2.0-or-later
# summary: netplan and systemd-networkd have the links (static, DHCP): the agent observes them, names differences with the line to write, and never changes them
# adapters: 2
# network: yes
# boots: 2
# start: snapshot

# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh

setup() {
  wait_until 60 "health says ready" health_is ready
  follow_guide ubuntu networkd-by-netplan
  install -m 600 /dev/stdin /etc/netplan/50-rdma.yaml <<'YAML'
network:
  version: 2
  renderer: networkd
  ethernets:
    ens17f0:
      dhcp4: true
YAML
  systemctl --no-reload enable systemd-networkd.service
  sync
}

scenario() {
  [[ $BOOT == 2 ]] || { setup; return; }
  wait_boot
  wait_until 30 "the static address" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 30 "the address by DHCP" has_ipv4 ens17f0 192.168.31.
  wait_until 30 "adapter 0 is networkd's" managed_by 0 systemd-networkd
  wait_until 30 "adapter 1 is networkd's" managed_by 1 systemd-networkd
  wait_until 30 "health says ready" health_is ready
  follow_guide ubuntu networkd-by-netplan 2

  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
mtu       = 4000
addresses = ["192.168.30.202/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 15 "another MTU is a finding, with netplan's line" remedy_says mtu-differs '`mtu: 4000`'
  expect "another address is a finding, with netplan's line" remedy_says address-missing '`addresses: [192.168.30.202/24]`'
  expect_equal "degraded" degraded "$(health_state)"
  expect_equal "the MTU stays" 9000 "$(cat /sys/class/net/ens16f0/mtu)"
  expect_not "the address is not set" has_ipv4 ens16f0 192.168.30.202/24
  ip link set ens17f0 down
  wait_until 15 "a link that is taken down is a finding" finding link-down
  holds_for 5 "the agent leaves the link down" sh -c '[ "$(cat /sys/class/net/ens17f0/flags)" = 0x1002 ]'
  ip link set ens17f0 up

  # The administrator gives the link to the agent, and follows the finding's words.
  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
manage    = "agent"
mtu       = 4000
addresses = ["192.168.30.202/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 15 "two owners are a finding, with the drop-in" remedy_says two-owners /etc/systemd/network/05-pvrdma-ens16f0.network
  remedy_of two-owners
  wait_until 15 "the agent sets its address" has_ipv4 ens16f0 192.168.30.202/24
  printf '%s\n' '[Match]' 'MACAddress=00:50:56:00:00:10' '[Link]' 'Unmanaged=yes' >/etc/systemd/network/05-pvrdma-ens16f0.network
  networkctl reload
  wait_until 30 "networkd has let go" no_finding two-owners
  wait_until 30 "the agent's address is still set" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 30 "the agent manages the link" managed_by 0 agent
  wait_until 30 "health says ready" health_is ready
  systemctl restart systemd-networkd.service
  wait_until 30 "networkd is restarted: it manages adapter 1" managed_by 1 systemd-networkd
  holds_for 5 "adapter 0 keeps its address" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 30 "health says ready" health_is ready
}
