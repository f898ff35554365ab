# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: verify beside perftest between two guests, over the same path; selftest beside ibv_rc_pingpong
# guests: 2
# timeout: 600
#
# The path is made so slow that the path takes the time, not the emulated CPUs.

# shellcheck source=tests/lab/guest/pair.sh
. /run/lab/pair.sh
bench() { echo "BENCH $1 $2"; } # NAME FIGURE
timed() { # NAME COMMAND…
  local began
  began=$(uptime_ms)
  "${@:2}" >/dev/null
  bench "$1" $(($(uptime_ms) - began))
}
exchange() { # like selftest: both ends in one guest
  ibv_rc_pingpong -d rocep0s16f1 -g "$(gid_index 1)" -n 20 >server.out &
  local server=$!
  wait_until 20 "it listens" sh -c "ss -ltn | grep -q ':18515 '"
  ibv_rc_pingpong -d rocep0s16f1 -g "$(gid_index 1)" -n 20 127.0.0.1
  wait "$server"
}

scenario() {
  configure 1
  on 2 configure 2
  host path rdma 100000 0
  measure 3s --json
  bench verify-latency-us "$(of '.latency[0].typical_us')"
  between "perftest's latency" ib_send_lat -d rocep0s16f1 -n 20 -s 2
  bench perftest-latency-us "$(figure 5)"
  host path rdma 0 20
  measure 3s --json
  bench verify-mb-s "$(of .bandwidth.out_mb_s)"
  between "perftest's bandwidth" ib_send_bw -d rocep0s16f1 -Q 1 -n 100 -s 1048576 --report_gbits
  bench perftest-mb-s "$(figure 4 | awk '{ print $1 * 125 }')"
  host path rdma 0 0
  timed selftest-ms pvrdma-agentctl selftest
  timed rc-pingpong-ms exchange
}
