# summary: two adapters, a job on one, the other's port broken: the job sees nothing; both are ready after it
# adapters: 2
# timeout: 180

reloaded() { (($(ledger .reloads) >= 1)); }

scenario() {
  wait_until 60 "health says ready" health_is ready
  start_job 0
  local greeting
  greeting=$(wc -l <events)
  local began
  began=$(uptime_ms)
  host port 1 DOWN
  wait_until 60 "the finding says what is waited for" held_by driver-in-use "$job"
  # Only where the modules are in their order is there a rung below the reload.
  expect "what was done until then is at most the bounce of adapter 1's own link" \
    jq -e --arg f "$(function_of 1)" --argjson t "$began" \
    '[.attempts[] | select(.started_ms >= $t and (.verb != "BounceLink" or .target != $f) and .outcome == "done")] | length == 0' /run/pvrdma-agent-executor/ledger.json
  holds_for 15 "no reload, no rebind" jq -e '.reloads == 0 and .rebinds == 0' /run/pvrdma-agent-executor/ledger.json
  expect_equal "the job's event stream is empty" "$greeting" "$(wc -l <events)"
  expect "adapter 0 is ready all the time" adapter_is 0 ready
  expect_equal "the whole is degraded" degraded "$(health_state)"
  kill "$job"
  wait "$job" || true
  wait_until 60 "the reload follows" reloaded
  host port 1 ACTIVE
  wait_until 20 "both are ready" health_is ready
  expect_equal "both netdevs are paired" 2 "$(rdma link | grep -c 'netdev ens')"
}
