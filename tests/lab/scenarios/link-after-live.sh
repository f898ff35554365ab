# SPDX-License-Identifier: GPL-2.0-or-later
# summary: two adapters: the agent's first step for a link comes after the driver is live, never while it probes
# adapters: 2
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-240}
#
# A link that comes up while vmw_pvrdma probes is an oops on Linux 6.12. By the kernel's own clock this compares the ledger's
# first ConfigureLink, and rtnetlink's first link that is up, with the driver's last event of probing.

round() {
  systemctl stop pvrdma-agent.service
  modprobe -r vmw_pvrdma
  ip link set ens16f0 down
  ip link set ens17f0 down
  # udevadm monitor stamps an event when it gets the CPU, so it must run before the executor.
  rm -f uevents
  chrt --fifo 50 stdbuf -oL udevadm monitor --kernel --subsystem-match=pci --property >uevents &
  local udev=$!
  wait_until 10 "udevadm listens" grep -q KERNEL uevents
  stdbuf -oL ip -o monitor link >links &
  local links=$!
  local began
  began=$(uptime_ms)
  systemctl start pvrdma-agent.service
  wait_until 40 "both ports are ACTIVE" sh -c 'grep -l ACTIVE /sys/class/infiniband/*/ports/1/state | wc -l | grep -qx 2'
  wait_until 10 "the ledger has both links" gojq -e --argjson t "$began" \
    '[.attempts[] | select(.verb == "ConfigureLink" and .started_ms >= $t and .finished_ms != null)] | length == 2' /run/pvrdma-agent-executor/ledger.json
  kill "$udev" "$links"
  wait "$udev" "$links" || true
  local bound up
  bound=$(awk '/^KERNEL\[/ && / bind / && /\.1 \(pci\)/ { split($1, t, "[][]"); last = t[2] } END { printf "%d", last * 1000 }' uevents)
  up=$(ledger --argjson t "$began" '[.attempts[] | select(.verb == "ConfigureLink" and .started_ms >= $t) | .started_ms] | min')
  expect "round $1: first step for a link at $up ms, last probe ended at $bound ms" test "$bound" -gt 0 -a "$up" -ge "$bound"
  expect "round $1: rtnetlink saw a link come up" grep -qE 'ens1[67]f0.*[<,]UP[,>]' links
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  local n
  for ((n = 1; n <= ${PVRDMA_LAB_ROUNDS:-3}; n++)); do round "$n"; done
}
