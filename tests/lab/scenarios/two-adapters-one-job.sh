# SPDX-License-Identifier: GPL-2.0-or-later
# summary: two adapters, a job on one; the other's port or its own is broken: a reload is refused with the job's name and waits, the job is not disturbed; after it both are ready
# adapters: 2
# start: snapshot

adapter_is_broken() { adapter_state "$1" | grep -qxE 'converging|degraded|failed'; }
waits_for() { kill -0 "$1" && reloads_are 0; }
reloaded() { (($(ledger .reloads) >= 1)); }

scenario() {
  wait_until 60 "health says ready" health_is ready
  start_job 0
  # Waits for a client that never comes. It has a protection domain, so each kernel names it.
  ibv_rc_pingpong -d "$(rdma_of 0)" -g 0 >server.out 2>&1 &
  local greeting named=$!
  wait_until 20 "a second job waits for its client" sh -c 'ss -ltn | grep -q ":18515 "'
  greeting=$(wc -l <events)
  expect_equal "a reload by hand is refused" 1 "$(pvrdma-agentctl reload >refusal 2>&1; echo $?)"
  cat refusal
  expect "the refusal names PID and command" grep -q "$named.*ibv_rc_pingpong\|ibv_rc_pingpong.*$named" refusal
  local began
  began=$(uptime_ms)
  host port 1 DOWN
  wait_until 60 "the finding names a job" held_by driver-in-use "$named" ibv_rc_pingpong
  [[ $(uname -r) == 5.10.* ]] || expect "the finding names both jobs" held_by driver-in-use "$job" ibv_asyncwatch
  expect "the executor did nothing until then" gojq -e --argjson t "$began" \
    '[.attempts[] | select(.started_ms >= $t and .outcome == "done")] | length == 0' /run/pvrdma-agent-executor/ledger.json
  holds_for 15 "no reload, no rebind" gojq -e '.reloads == 0 and .rebinds == 0' /run/pvrdma-agent-executor/ledger.json
  expect_equal "the job's event stream is empty" "$greeting" "$(wc -l <events)"
  expect "adapter 0 is ready all the time" adapter_is 0 ready
  expect_equal "the machine is degraded" degraded "$(health_state)"
  pvrdma-agentctl health || true

  # The port of the job's adapter is broken as well.
  host port 0 DOWN
  wait_until 30 "adapter 0 is no longer ready" adapter_is_broken 0
  holds_for 10 "the job keeps running, and the driver is not reloaded" waits_for "$job"
  expect_not "the link of the job's adapter was left alone" grep -q PORT_ERR events
  kill "$named"
  wait "$named" || true
  holds_for 5 "the other job is reason enough to wait" waits_for "$job"
  kill "$job"
  wait "$job" || true
  wait_until 60 "the reload follows" reloaded
  host port 0 ACTIVE
  host port 1 ACTIVE
  wait_until 45 "both adapters are ready" health_is ready
  wait_until 5 "the finding ends" no_finding driver-in-use
  expect_equal "both netdevs are paired" 2 "$(rdma link | grep -c 'netdev ens')"
}
