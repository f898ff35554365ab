# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the host holds the port down: converging, then failed with a hint for the host; the host lets the port come up: ready within 45 s; taken down again without any event, the next question finds it
# adapters: 1
# start: snapshot
# port: DOWN
# timeout: 480
# waits: yes

seen_states() { agent_journal -o cat | grep -oE '^(converging|ready|degraded|failed):' | tr -d '\n'; }

wake_ups() { awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' /proc/"$(agent_pid)"/task/*/status; }
# No program may ask meanwhile, as each question wakes the agent up.
rests() {
  local before
  wait_until 30 "the executor has exited" at_rest
  # After that time the looks are half a minute apart.
  pause_ms 45000
  before=$(wake_ups)
  pause_ms 120000
  # Once in five minutes the look at boot scripts wakes two threads, and each may wait for the other.
  expect "at most 4 wake-ups a minute, and 4 for boot scripts ($(($(wake_ups) - before)) in 2)" [ $(($(wake_ups) - before)) -le 12 ]
}

# The device sends the guest no event for this.
taken_down() {
  local told
  host port 0 DOWN
  pause_ms 3000
  told=$(pvrdma-agentctl --json health || true)
  expect_equal "the next question finds the port down" DOWN "$(gojq -r '.adapters[0].port.state' <<<"$told")"
  expect "the answer comes from a fresh look" gojq -e '.observed_ms_ago < 2000' <<<"$told"
}

scenario() {
  wait_until 60 "the host-side finding" finding port-down
  expect "health prints the esxcli line" sh -c "pvrdma-agentctl health | tr -s ' \n' ' ' | grep -q 'esxcli system settings advanced set -o /Net/PVRDMAVmknic -s vmk0'"
  expect "first converging, then failed" [ "$(seen_states)" = "converging:failed:" ]
  expect_equal "exit status of health" 2 "$(pvrdma-agentctl health >/dev/null; echo $?)"
  local pid reloads
  pid=$(agent_pid)
  host port 0 ACTIVE
  # The agent tries nothing any more, so it looks every half minute.
  wait_until 45 "health says ready" health_is ready
  reloads=$(health_query .executor.reloads)
  holds_for 20 "no reload after success" reloads_are "$reloads"
  rests
  taken_down
  expect_equal "the agent was not restarted" "$pid" "$(agent_pid)"
}
