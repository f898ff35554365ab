# summary: two adapters, a job on one, the other's port broken: the job sees nothing; both are ready after it
# adapters: 2
# timeout: 180

waits_for_job() { finding driver-in-use | jq -e --argjson pid "$watcher" '.evidence.holders[] | select(.pid == $pid)'; }
reloaded() { [[ $(jq .reloads /run/pvrdma-agent-executor/ledger.json) -ge 1 ]]; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  ibv_asyncwatch -d "$(rdma_of 0)" >events 2>&1 &
  watcher=$!
  wait_until 10 "the job holds adapter 0" grep -q async events
  local greeting
  greeting=$(wc -l <events)
  host port 1 DOWN
  wait_until 60 "the finding says what is waited for" waits_for_job
  expect "the link of adapter 1 was bounced, which reaches nobody else" \
    jq -e --arg f "$(function_of 1)" '.attempts[] | select(.verb == "BounceLink" and .target == $f)' /run/pvrdma-agent-executor/ledger.json
  holds_for 15 "no reload, no rebind" jq -e '.reloads == 0 and .rebinds == 0' /run/pvrdma-agent-executor/ledger.json
  expect_equal "the job's event stream is empty" "$greeting" "$(wc -l <events)"
  expect "adapter 0 is ready all the time" adapter_is 0 ready
  expect_equal "the whole is degraded" degraded "$(health_state)"
  kill "$watcher"
  wait "$watcher" || true
  wait_until 60 "the reload follows" reloaded
  host port 1 ACTIVE
  wait_until 20 "both are ready" health_is ready
  expect_equal "both netdevs are paired" 2 "$(rdma link | grep -c 'netdev ens')"
}
