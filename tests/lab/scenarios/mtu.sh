# SPDX-License-Identifier: GPL-2.0-or-later
# summary: mtu: the right answer on every kind of path, IPv4 and IPv6, with few probes, with loss, and with few privileges
# adapters: 1
# start: snapshot
# timeout: 420
# waits: yes

# me --9000-- r1 --1500-- r2 --1280-- far      routers with honest errors: mid is r2's near end
#              +--9000-- hole                  receives only packets up to 1500 (1504: veth allows for a VLAN tag)
#              +--1500-- mute                  r1 sends no error about packets too large for this link
#              +--4444-- odd                   the same with an unusual MTU
#              +--1500-- lied                  r1's errors have the wrong MTU 1400
# Links are numbered; link N is 10.9.N.0/24 and fd09:N::/64, its near end .1, its far end .2.
names=(me r1 r2 far hole mute odd lied)

ns() { ip netns exec "$@"; }

connect() { # NUMBER NEAR NEAR-MTU FAR FAR-MTU
  ip link add "l$1" netns "$2" mtu "$3" type veth peer name "l$1" netns "$4" mtu "$5"
  local end name host
  for end in "$2 1" "$4 2"; do
    read -r name host <<<"$end"
    ip -n "$name" addr add "10.9.$1.$host/24" dev "l$1"
    ip -n "$name" addr add "fd09:$1::$host/64" dev "l$1" nodad
    ip -n "$name" link set "l$1" up
  done
}
default_route() { # NAMESPACE NUMBER HOST
  ip -n "$1" route add default via "10.9.$2.$3"
  ip -n "$1" -6 route add default via "fd09:$2::$3"
}

# r1's own errors to `me` leave by link 1. `tell_nothing N` drops those about hosts on link N, by the address
# that they quote, the destination of the packet that was too large.
tell_nothing() { # NUMBER
  # IPv4 header 20, ICMP header 8, and the destination is the last word of the quoted header.
  ns r1 tc filter add dev l1 egress protocol ip u32 match ip protocol 1 0xff match u8 3 0xff at 20 \
    match u32 "0x0a09$(printf %02x "$1")00" 0xffffff00 at 44 action drop
  # IPv6 header 40, ICMPv6 header 8, destination at 24 of the quoted header.
  ns r1 tc filter add dev l1 egress protocol ipv6 u32 match u8 58 0xff at 6 match u8 2 0xff at 40 \
    match u32 "0xfd09$(printf %04x "$1")" 0xffffffff at 72 action drop
}
tell_lies() { # NUMBER: changes the MTU in errors about that link to 1400
  ns r1 tc filter add dev l1 egress protocol ip u32 match ip protocol 1 0xff match u8 3 0xff at 20 \
    match u32 "0x0a09$(printf %02x "$1")00" 0xffffff00 at 44 action pedit munge offset 26 u16 set 1400 pipe csum icmp
}

build() {
  local name
  for name in "${names[@]}"; do
    ip netns add "$name"
    ip -n "$name" link set lo up
  done
  connect 1 me 9000 r1 9000
  connect 2 r1 1500 r2 1500
  connect 3 r2 1280 far 1280
  connect 4 r1 9000 hole 1500
  connect 5 r1 1500 mute 1500
  connect 6 r1 4444 odd 4444
  connect 7 r1 1500 lied 1500
  for name in r1 r2; do
    ns "$name" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
    # Rate limits for errors are off, as this test counts probes; other routers than Linux limit errors less.
    ns "$name" sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
  done
  default_route me 1 2
  ip -n r1 route add 10.9.3.0/24 via 10.9.2.2
  ip -n r1 -6 route add fd09:3::/64 via fd09:2::2
  default_route r2 2 1
  default_route far 3 1
  local number=4
  for name in hole mute odd lied; do
    default_route "$name" "$number" 1
    number=$((number + 1))
  done
  # systemd sets this outside of namespaces; then the tests below need no privilege.
  ns me sysctl -qw net.ipv4.ping_group_range='0 2147483647'
  ns r1 tc qdisc add dev l1 clsact
  tell_nothing 5
  tell_nothing 6
  tell_lies 7
}

# ask OPTION… HOST…: the JSON in answer.json, the status in $status
ask() {
  status=0
  ns me pvrdma-agentctl --json mtu "$@" >answer.json || status=$?
}
of_first() { gojq -r ".hosts[0] | $1" answer.json; }

# measured DESCRIPTION HOST MTU MOST-PROBES LIMITED-BY [ROUTER]
measured() {
  ask "$2"
  expect_equal "$1: MTU, limit, router" "$3 $5 ${6:-null}" "$(of_first '"\(.mtu_bytes) \(.limited_by) \(.router)"')"
  expect_equal "$1: exit code" 0 "$status"
  expect "$1: $(of_first .probes) probes, at most $4 ($(of_first .took_ms) ms)" [ "$(of_first .probes)" -le "$4" ]
}

paths() {
  measured "IPv4, local link" 10.9.1.2 9000 6 local-link
  expect_equal "the interface's name" l1 "$(of_first .interface)"
  measured "IPv4, a router of 1500" 10.9.2.2 1500 6 router 10.9.1.2
  measured "IPv4, routers of 1500 and 1280" 10.9.3.2 1280 6 router 10.9.2.2
  measured "IPv4, a link that swallows more than 1504" 10.9.4.2 1504 90 silence
  measured "IPv4, a router of 1500 that is mute" 10.9.5.2 1500 25 silence
  measured "IPv4, a router of 4444 that is mute" 10.9.6.2 4444 90 silence
  measured "IPv4, a router with a wrong MTU" 10.9.7.2 1500 6 router 10.9.1.2
  expect_equal "the answer has the router's wrong MTU" 1400 "$(of_first .router_mtu_bytes)"
  measured "IPv6, local link" fd09:1::2 9000 6 local-link
  measured "IPv6, a router of 1500" fd09:2::2 1500 6 router fd09:1::2
  measured "IPv6, routers of 1500 and 1280" fd09:3::2 1280 6 router fd09:2::2
  measured "IPv6, a link that swallows more than 1504" fd09:4::2 1504 90 silence
  measured "IPv6, a router of 1500 that is mute" fd09:5::2 1500 25 silence
  measured "IPv6, a router of 4444 that is mute" fd09:6::2 4444 90 silence
  measured "itself" 127.0.0.1 65535 3 largest-packet
  # What the kernel remembers of the path is heeded by ping of Debian 12, and forgotten on demand.
  measured "that router again" 10.9.2.2 1500 6 router
  expect "the kernel has remembered 1500 by now" sh -c 'ip -n me route get 10.9.2.2 | grep -q "mtu 1500"'
  ip -n r1 link set l2 mtu 9000
  ip -n r2 link set l2 mtu 9000
  ns me ip route flush cache
  measured "the router's link was mended" 10.9.2.2 9000 6 local-link
  ip -n r1 link set l2 mtu 1500
  ip -n r2 link set l2 mtu 1500
}

# Three probes in ten have no answer, in a fixed pattern. With random losses five in a row, which mean "too
# large", would happen once in some hundred runs.
lossy() {
  local host mtu
  ns me tc qdisc add dev l1 clsact
  ns me tc filter add dev l1 egress pref 60000 matchall action ok random determ drop 7
  ns r1 tc filter add dev l1 egress pref 60000 matchall action ok random determ drop 5
  for host in 10.9.1.2:9000 10.9.2.2:1500 10.9.3.2:1280 10.9.5.2:1500 10.9.6.2:4444; do
    mtu=${host#*:}
    ask --timeout 60s "${host%:*}"
    expect_equal "every seventh request and every fifth answer lost, $host" "$mtu 0" "$(of_first .mtu_bytes) $status"
    echo "  $(of_first '"\(.probes) probes, \(.took_ms) ms, limited by \(.limited_by)"')"
  done
  ns me tc qdisc del dev l1 clsact
  ns r1 tc filter del dev l1 egress pref 60000
}

# as_nobody COMMAND…: without any capability, also not that of ping's file, in `me`
as_nobody() { ns me setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs "$@"; }
rights() {
  as_nobody pvrdma-agentctl --json mtu 10.9.2.2 fd09:2::2 >answer.json
  expect_equal "any user, if ping sockets are allowed" "1500 1500" \
    "$(gojq -r '[.hosts[].mtu_bytes] | join(" ")' answer.json)"
  ns me sysctl -qw net.ipv4.ping_group_range='1 0'
  ns me pvrdma-agentctl --json mtu 10.9.2.2 fd09:2::2 10.9.3.2 >answer.json
  expect_equal "root, if they are not" "1500 router 1500 router 1280 router" \
    "$(gojq -r '[.hosts[] | .mtu_bytes, .limited_by] | join(" ")' answer.json)"
  status=0
  as_nobody pvrdma-agentctl mtu 10.9.2.2 10.9.3.2 >out 2>complaint || status=$?
  cat complaint
  expect_equal "other users, if they are not: exit code, lines" "3 0 1" "$status $(wc -l <out) $(wc -l <complaint)"
  expect "the message names the sysctl and the capability" grep -E 'net.ipv4.ping_group_range.*CAP_NET_RAW' complaint
}

several() {
  status=0
  ns me pvrdma-agentctl mtu 10.9.1.2 10.9.3.2 fd09:2::2 10.9.5.2 >out || status=$?
  cat out
  expect_equal "several hosts: exit code, last line" "0 minimum: MTU 1280, to 10.9.3.2" "$status $(tail -n 1 out)"
  ask --timeout 10s 10.9.1.2 10.9.2.77 10.9.99.1 nosuch.invalid 10.9.3.2
  expect_equal "hosts that cannot be reached: exit code, MTUs, minimum" "3 9000 null null null 1280 1280" \
    "$status $(gojq -r '[.hosts[].mtu_bytes, .minimum_mtu_bytes] | map(tostring) | join(" ")' answer.json)"
  gojq -r '.hosts[] | select(.error) | "  \(.host): \(.error)"' answer.json
  expect "each of them has a reason" gojq -e '[.hosts[] | select(.mtu_bytes == null) | .error | length > 0] | all' answer.json
  ask --timeout 1s 10.9.6.2
  expect_equal "out of time: exit code, largest size that passed" "3 null true" \
    "$status $(of_first '"\(.mtu_bytes) \(.passed_bytes >= 1500)"')"
  expect "within it" [ "$(of_first .took_ms)" -lt 3000 ]
}

# expected DESCRIPTION STATUS CARRIED BYTES HOST…
expected() {
  local about=$1 code=$2 carried=$3
  shift 3
  ask --expect "$@"
  expect_equal "$about: exit code, carried" "$code $carried" "$status $(gojq -r .carried answer.json)"
}
expectations() {
  expected "9000 on a path of 9000" 0 yes 9000 10.9.1.2
  expected "9000 through a router of 1500" 2 no 9000 10.9.2.2
  expected "1280 on all of them" 0 yes 1280 10.9.1.2 10.9.3.2 fd09:2::2
  expected "9000 to two hosts, one with less" 2 no 9000 10.9.1.2 10.9.4.2
  expected "9000 to a host that does not answer" 3 unknown 9000 --timeout 3s 10.9.1.2 10.9.2.77
  ask 10.9.4.2
  expect_equal "packets vanish: number of places to look at, and the second" "4 distributed switch" \
    "$(of_first '"\(.look_at | length) \(.look_at[1].where)"')"
  ask 10.9.2.2
  expect_equal "a router says why: no place to look at" 0 "$(of_first '.look_at | length')"
  status=0
  ns me pvrdma-agentctl mtu --expect 9000 10.9.5.2 >out || status=$?
  cat out
  expect_equal "as text: exit code, last line" "2 expected: packets of 9000 bytes do not pass to 10.9.5.2" \
    "$status $(tail -n 1 out)"
  expect "the text names places to look at" grep -q '^  distributed switch ' out
}

# Measures from the adapter's own interface, outside of the namespaces; the adapter's other names give the same result.
from_adapter() {
  local name mtu
  ip link set ens16f0 up
  ip address add 192.168.77.1/24 dev ens16f0
  mtu=$(cat /sys/class/net/ens16f0/mtu)
  for name in ens16f0 rocep0s16f1 0000:00:10.1; do
    status=0
    pvrdma-agentctl --json mtu --timeout 2s --adapter "$name" 192.168.77.2 >answer.json || status=$?
    expect_equal "from $name: exit code, interface, its MTU" "3 ens16f0 $mtu" \
      "$status $(of_first '"\(.interface) \(.link_mtu_bytes)"')"
  done
  ip address del 192.168.77.1/24 dev ens16f0
  status=0
  pvrdma-agentctl mtu --adapter nosuch0 192.168.77.2 2>complaint || status=$?
  expect_equal "no such adapter: exit code, complaint" \
    "3 pvrdma-agentctl: there is no PVRDMA adapter nosuch0" "$status $(cat complaint)"
}

completes() { # EXPECTED WORD…: the completions of the last word
  local expected=$1
  shift
  expect_equal "completion of '$*'" "$expected" "$(
    # shellcheck source=packaging/completions/pvrdma-agentctl
    . /usr/share/bash-completion/completions/pvrdma-agentctl
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    _pvrdma_agentctl "$1" "${!#}"
    echo "${COMPREPLY[*]}"
  )"
}

scenario() {
  wait_boot
  build
  wait_until 10 "the farthest host answers" ns me ping -c 1 -W 1 10.9.3.2
  wait_until 10 "the farthest host answers by IPv6" ns me ping -c 1 -W 1 fd09:3::2
  paths
  rights
  several
  expectations
  from_adapter
  lossy
  completes mtu pvrdma-agentctl mt
  completes "--ipv4 --ipv6" pvrdma-agentctl mtu --ip
  completes localhost pvrdma-agentctl mtu localh
}
