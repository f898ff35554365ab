# SPDX-License-Identifier: GPL-2.0-or-later
# summary: verify: between two guests, data compared, figures like perftest's and the same on both sides, the path found, tokens and versions checked; refusals and losses have their reasons
# guests: 2
# start: snapshot
# timeout: 900
#
# Both guests have emulated CPUs, so a figure depends on this machine and is compared only with others of the same run.

# shellcheck source=tests/lab/guest/pair.sh
. /run/lab/pair.sh
says() { grep -qF -- "$1" out; }

# If neither RDMA nor IP has a path with delay, both figures depend on the emulated CPUs and may be alike, so RDMA may look like TCP.
told_apart() { # COMMAND…
  host path net 30000 4
  "$@"
  host path net 0 0
}

passes() {
  # This path has no limit, so that all messages of a short stream may arrive at once, and seem a hundred times faster. A later
  # run is compared with this one.
  told_apart measure 3s --json
  expect_equal "messages pass" 0 "$status"
  expect_equal "the listener has the same figures, with out and in exchanged" "$(of '"\(.bandwidth.in_mb_s) \(.bandwidth.out_mb_s)"' |
    awk '{ printf "%.0f %.0f\n", $1, $2 }')" "$(on 2 sed -n 's|^  bandwidth *\([0-9]*\) MB/s out, \([0-9]*\) in,.*|\1 \2|p' listener.out)"
  expect_equal "the figures are complete" "true 6 true" \
    "$(of '"\(.data_whole) \(.latency | length) \([.bandwidth.out_mb_s, .bandwidth.in_mb_s, .bandwidth.both_mb_s, .messages_per_s, .tcp.latency_us, .tcp.bandwidth_mb_s] | all(. > 0))"')"
  expect_equal "much faster than TCP: one host's memory or the wire" "rdma true" "$(of '"\(.path.kind) \(.path.sure)"')"
  expect "the figures of latency are in order" gojq -e '.latency | all(.min_us <= .typical_us and .typical_us <= .p99_us and .p99_us <= .p999_us)' out
  expect_equal "no queue pair is left" "0" "$(rdma resource show qp | grep -c verify || true)"
  expect_equal "nothing listens" "" "$(on 2 ss -Hltn 'sport = :18600')"
}

paths() {
  host path rdma 15000 40
  host path net 3000 80
  measure 1s --json --expect latency=1ms
  expect_equal "the latency is above the expected one: exit status" 2 "$status"
  expect_equal "RDMA that is no faster than TCP is a fall-back, probably" "tcp-fall-back false" "$(of '"\(.path.kind) \(.path.sure)"')"
  expect "the answer names places to look at on the hosts" gojq -e '.path.look_at | length > 3' out
  host path rdma 0 0
  host path net 30000 4
  { properties esx01 1 ens16f0 && on 2 properties esx02 1 ens16f0; } >hosts
  measure 1s --json --expect latency=10000ms,bandwidth=1% --host-properties hosts
  expect_equal "as expected, compared with an earlier run: exit status" 0 "$status"
  expect_equal "RDMA that is much faster, between two hosts with NICs, is native, surely" "native true" "$(of '"\(.path.kind) \(.path.sure)"')"
  host path net 0 0
}

properties() { # HOST HCA NETDEV: as the ESXi host would print them
  printf '[root@%s:~] vsish -e cat /vmkModules/vrdma/pvrdmaDevices/%s_0/properties\n' "$1" "${1#esx}"
  printf 'PVRDMA Device Properties {\n   MAC address:%s\n   Physical HCA available:%s\n}\n' "$(</sys/class/net/"$3"/address)" "$2"
}

# perftest over the same path, which takes so long that the emulated CPUs add far less than a tenth. On a busy machine they may
# add more to most rounds, so the shortest rounds are compared.
as_perftest() {
  host path rdma 40000 0
  measure 1s --json
  between "perftest's latency" ib_send_lat -d rocep0s16f1 -n 60 -s 2
  within_tenth "latency" "$(of '[.latency[].min_us] | min')" "$(figure 3)"
  # The path has a fraction of the bandwidth of an emulated CPU, so a busy machine does not matter. perftest's MB are 2^20 bytes.
  # The first messages, of which each measurement has at least eight, take two seconds.
  host path rdma 0 4
  measure 1s --json
  between "perftest's bandwidth" ib_send_bw -d rocep0s16f1 -Q 1 -n 10 -s 1048576
  within_tenth "bandwidth" "$(of .bandwidth.out_mb_s)" "$(figure 4 | awk '{ print $1 * 1.048576 }')"
  host path rdma 0 0
}
within_tenth() { # WHAT FIGURE OF-PERFTEST
  expect "$1 within 10 % of perftest's: $2, perftest's $3" awk -v got="$2" -v of="$3" 'BEGIN { exit !(got >= 0.9 * of && got <= 1.1 * of) }'
}

tokens() {
  printf 'one secret' | install -m 600 -o nobody /dev/stdin token
  on 2 eval "printf 'one secret' | install -m 600 -o nobody /dev/stdin token"
  printf 'another' | install -m 600 -o nobody /dev/stdin other
  on 2 listen --token-file token
  verify --token-file other
  expect_equal "another token" 3 "$status"
  expect "the output says that the token differs" says "it differs from this machine's"
  verify
  expect_equal "no token" 3 "$status"
  expect "the output says that a token is wanted" says "it wants a token"
  told_apart verify --duration 2s --token-file token
  expect_equal "the same listener accepts the same token" 0 "$status"
  expect "the output says that the data are whole" says "whole, compared byte by byte"
  on 2 listened
  chmod 644 token
  verify --token-file token
  expect "a token file that all may read is refused" says "chmod 600"
}

refusals() {
  verify --wait 1s
  expect_equal "no listener: exit status" 3 "$status"
  expect "the output says so" says "connecting to $other port 18600: Connection refused"
  start_job 0
  verify
  expect_equal "a job holds the adapter" 3 "$status"
  expect "the output names the job" says "ibv_asyncwatch"
  on 2 listen
  told_apart on_terminal --allow-in-use --duration 2s
  expect_equal "with --allow-in-use it measures" 0 "$status"
  expect "on a terminal the present step is shown" says "latency of 65536 bytes"
  on 2 listened
  kill "$job"
  on 2 listen
  exec 5<>/dev/tcp/$other/18600
  echo 'GET / HTTP/1.0' >&5
  exec 5>&-
  exec 5<>/dev/tcp/$other/18600
  echo '{"pvrdma_verify": 99, "nonce": "00", "token": false}' >&5
  on 2 listened >said
  exec 5>&-
  expect "another program does not end the listener, another version does" grep "it speaks version 99 of the protocol" said
}

on_terminal() { # ARGUMENT…: as `verify`
  status=0
  TERM=xterm as_nobody script -qec "pvrdma-agentctl verify $* $other" /dev/null >out 2>&1 || status=$?
  cat out
}

losses() {
  host path rdma lost
  on 2 listen
  verify --duration 2s
  expect_equal "no message arrives" 2 "$status"
  expect "the output says so" says "transport retry counter exceeded"
  on 2 listened
  expect_equal "the listener's exit status is the same" 2 "$(on 2 cat listener.status)"
  host path rdma 0 0
}

# While the other guest has the same address, the agent tries it again and again.
duplicates() {
  on 2 ip address add fd00:30::9/64 dev ens16f0 nodad
  on 2 ip address add 192.168.30.9/24 dev ens16f0
  printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.1/24", "192.168.30.9/24", "fd00:30::9/64"]\n' | agent_config
  systemctl reload pvrdma-agent.service
  wait_until 60 "an IPv6 address of another host is a finding" finding address-duplicate
  wait_until 60 "an IPv4 address of another host is a finding" sh -c 'pvrdma-agentctl health --json | grep -q "192.168.30.9/24 is not set"'
  on 2 ip address del fd00:30::9/64 dev ens16f0
  on 2 ip address del 192.168.30.9/24 dev ens16f0
  wait_until 120 "the other host is gone: the IPv6 address is set" usable fd00:30::9/64
  wait_until 120 "the other host is gone: the IPv4 address is set" has_ipv4 ens16f0 192.168.30.9/24
  wait_until 30 "ready" health_is ready
}
usable() { ip -o address show dev ens16f0 | grep " $1 " | grep -qv tentative; }

scenario() {
  configure 1
  on 2 configure 2
  passes
  paths
  as_perftest
  tokens
  refusals
  losses
  duplicates
}
