# SPDX-License-Identifier: GPL-2.0-or-later
# summary: two adapters, a job on one, a port broken, the other's or its own: a reload is refused by name and waits, the job sees nothing; both are ready after it
# adapters: 2
# start: snapshot

adapter_is_not() { ! adapter_is "$@"; }
waits_for() { kill -0 "$1" && reloads_are 0; }
reloaded() { (($(ledger .reloads) >= 1)); }

scenario() {
  wait_until 60 "health says ready" health_is ready
  start_job 0
  local greeting
  greeting=$(wc -l <events)
  expect_equal "a reload by hand is refused" 1 "$(pvrdma-agentctl reload >refusal 2>&1; echo $?)"
  cat refusal
  expect "with PID and command" grep -q "$job.*ibv_asyncwatch\|ibv_asyncwatch.*$job" refusal
  local began
  began=$(uptime_ms)
  host port 1 DOWN
  wait_until 60 "the finding says what is waited for" held_by driver-in-use "$job" ibv_asyncwatch
  expect "nothing was done until then" gojq -e --argjson t "$began" \
    '[.attempts[] | select(.started_ms >= $t and .outcome == "done")] | length == 0' /run/pvrdma-agent-executor/ledger.json
  holds_for 15 "no reload, no rebind" gojq -e '.reloads == 0 and .rebinds == 0' /run/pvrdma-agent-executor/ledger.json
  expect_equal "the job's event stream is empty" "$greeting" "$(wc -l <events)"
  expect "adapter 0 is ready all the time" adapter_is 0 ready
  expect_equal "the whole is degraded" degraded "$(health_state)"
  pvrdma-agentctl health || true

  # Its own port as well.
  host port 0 DOWN
  wait_until 30 "adapter 0 is no longer ready" adapter_is_not 0 ready
  holds_for 10 "the process keeps running, and nothing was reloaded" waits_for "$job"
  expect_not "its link was left alone" grep -q PORT_ERR events
  kill "$job"
  wait "$job" || true
  wait_until 60 "the reload follows" reloaded
  host port 0 ACTIVE
  host port 1 ACTIVE
  wait_until 45 "both are ready" health_is ready
  wait_until 5 "nothing is left to say" no_finding driver-in-use
  expect_equal "both netdevs are paired" 2 "$(rdma link | grep -c 'netdev ens')"
}
