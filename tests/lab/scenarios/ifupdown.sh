# SPDX-License-Identifier: GPL-2.0-or-later
# summary: ifupdown has a link (interfaces(5), static): the agent observes it, names differences with the line to write, never changes it; when ifupdown lets go, the agent manages it
# adapters: 2
# start: snapshot
#
# ifupdown has no process to ask and sends no events, so the agent reads its files at each look.

# A link is taken down and put into a bridge, which is to bring it up, as ifenslave does; the agent leaves it alone.
netdev_down() { ! netdev_up "$1"; } # N
in_a_bridge() {
  ip link add br0 type bridge
  ip link set ens17f0 down && ip link set ens17f0 master br0
  wait_until 30 "a link in a bridge is managed by its master" managed_by 1 master
  holds_for 5 "the agent leaves the link down" netdev_down 1
  expect "the finding names the bridge" sh -c "pvrdma-agentctl health --json | grep -q 'its master br0 manages it'"
  ip link set ens17f0 nomaster
  wait_until 30 "out of the bridge the agent brings the link up" netdev_up 1
  wait_until 30 "health says ready" health_is ready
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect "without a network manager the agent manages the links" managed_by 0 agent
  printf '%s\n' 'allow-hotplug ens16f0' 'iface ens16f0 inet static' '  address 192.168.30.201/24' >/etc/network/interfaces.d/storage
  expect "ifup" ifup ens16f0
  wait_until 30 "ifupdown has adapter 0" managed_by 0 ifupdown
  expect "the agent manages adapter 1" managed_by 1 agent
  wait_until 30 "health says ready" health_is ready

  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
mtu       = 9000
addresses = ["192.168.30.202/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 20 "another address is a finding, with the stanza's line" \
    remedy_says address-missing 'In /etc/network/interfaces.d/storage add `address 192.168.30.202/24` to the stanza of ens16f0'
  wait_until 10 "another MTU is a finding, with its line" remedy_says mtu-differs 'add `mtu 9000` to the stanza of ens16f0'
  holds_for 3 "the address is not set" has_no_ipv4 ens16f0 192.168.30.202/24
  expect_equal "the MTU is not set" 1500 "$(cat /sys/class/net/ens16f0/mtu)"
  sed -i 's|address .*|address 192.168.30.202/24\n  mtu 9000|' /etc/network/interfaces.d/storage
  expect "the remedies are carried out" sh -c 'ifdown ens16f0 && ifup ens16f0'
  wait_until 30 "the findings end" no_finding mtu-differs
  wait_until 30 "health says ready" health_is ready
  expect "ifupdown has set the new address" has_ipv4 ens16f0 192.168.30.202/24

  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
manage    = "agent"
addresses = ["192.168.30.203/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 20 "two owners are a finding" remedy_says two-owners 'Remove the stanza of ens16f0 from /etc/network/interfaces.d/storage'
  # A stanza that names the link as a part of a bond has the link as well, and so has the bond.
  printf '%s\n' 'iface bond0 inet manual' '  bond-slaves ens16f0' >/etc/network/interfaces.d/storage
  wait_until 30 "the line of a bond is named" remedy_says two-owners /etc/network/interfaces.d/storage
  rm /etc/network/interfaces.d/storage
  wait_until 30 "ifupdown has let go" no_finding two-owners
  wait_until 30 "the agent has set the address" has_ipv4 ens16f0 192.168.30.203/24
  expect "ifupdown's address is still set" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 30 "health says ready" health_is ready
  in_a_bridge
}
