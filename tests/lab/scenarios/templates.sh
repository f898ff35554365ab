# SPDX-License-Identifier: GPL-2.0-or-later
# summary: one template, a clone with another MAC and another address from guestinfo: ready with its own address, none of the template's left
# adapters: 1
# network: yes
# clones: 1
# start: snapshot

# The clone is another machine, on a fresh overlay of the template's disk after its clean shutdown.
# QEMU has no channel for guestinfo: a stand-in for vmware-rpctool answers (lib.sh).

template_mac=00:50:56:00:00:10
template_address=192.168.30.200

# vSphere's side: each machine gets its own configuration. The clone also has an MTU of its own, and the template the one that its
# file has for every adapter.
early() {
  local address=192.168.30.$((200 + LAB_CLONE))
  {
    printf '[[adapter]]\nmatch = { mac = "00:50:56:00:%02x:10" }\naddresses = ["%s/24"]\n' "$LAB_CLONE" "$address"
    ((LAB_CLONE == 0)) || echo "mtu = 8000"
  } | guestinfo
}

template() {
  wait_until 60 "health says ready" health_is ready
  guestinfo_standin
  agent_config <<'TOML'
# Any user of a guest can write guestinfo; in this guest there is no other user than the agent.
[guestinfo]
enabled = true
[modules]
reload = "never"
[[adapter]]
mtu = 6500
TOML
  systemctl restart pvrdma-agent.service
  wait_until 20 "the template's address is set" has_ipv4 ens16f0 $template_address/24
  wait_until 20 "the MTU for every adapter is set" mtu_is 6500
  wait_until 20 "health says ready" health_is ready
  expect "the configuration is good" pvrdma-agent --check-config
}

mtu_is() { [[ $(cat /sys/class/net/ens16f0/mtu) == "$1" ]]; }
addresses() { ip -o -4 address show dev ens16f0 | awk '{ print $4 }'; }
gid_is_there() { cat /sys/class/infiniband/"$(rdma_of 0)"/ports/1/gids/* | grep -qi "$1"; } # PART OF A GID

scenario() {
  ((LAB_CLONE)) || { template; return; }
  local address=192.168.30.$((200 + LAB_CLONE))
  echo "=== clone $LAB_CLONE"
  wait_until 60 "health says ready" health_is ready
  expect_equal "its MAC address" "00:50:56:00:0$LAB_CLONE:10" "$(cat /sys/class/net/ens16f0/address)"
  expect_equal "the clone has its own address and no other" $address/24 "$(addresses)"
  expect "its MTU" mtu_is 8000
  expect_equal "no findings" "[]" "$(health_query -c .findings)"
  expect_equal "the GID that applications are told" "$address" "$(health_query '.adapters[0].application_gid.address // "none"')"
  expect "the address works" ping -c 1 -W 5 -I $address 192.168.30.2
  expect "the address has its GID" gid_is_there c0a8:1ec9
  expect "the MAC address has its GID" gid_is_there 0250:56ff:fe00:0110
  expect_not "no GID of the template's address is left" gid_is_there c0a8:1ec8
  expect_not "no GID of the template's MAC address is left" gid_is_there 0250:56ff:fe00:0010
  # The journal may name the template; files that the agent reads may not.
  expect_not "no file of the agent has the template's MAC or address" grep -rqF -e $template_mac -e $template_address /etc /run/pvrdma-agent \
    /run/pvrdma-agent-executor /run/pvrdma-agent-guestinfo /var/lib
  pvrdma-agent --check-config
  pvrdma-agentctl health
}
