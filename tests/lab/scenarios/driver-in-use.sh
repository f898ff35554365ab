# summary: a process holds a verbs context and a reload is due: refused by name, nothing harmed, carried on when it ends
# adapters: 1

reloaded() { (($(ledger .reloads) >= 1)); }

scenario() {
  wait_until 60 "health says ready" health_is ready
  ibv_asyncwatch -d "$(rdma_of 0)" >events 2>&1 &
  watcher=$!
  wait_until 10 "ibv_asyncwatch holds the device" grep -q async events
  expect_equal "a reload by hand is refused" 1 "$(pvrdma-agentctl reload >refusal 2>&1; echo $?)"
  cat refusal
  expect "with PID and command" grep -q "$watcher.*ibv_asyncwatch\|ibv_asyncwatch.*$watcher" refusal

  host port 0 DOWN
  wait_until 30 "a reload is due, and the finding names who is waited for" held_by driver-in-use "$watcher" ibv_asyncwatch
  pvrdma-agentctl health || true
  holds_for 10 "the process keeps running" kill -0 "$watcher"
  expect_not "its link was left alone" grep -q PORT_ERR events
  kill "$watcher"
  wait "$watcher" || true
  wait_until 30 "the agent goes on by itself" reloaded
  host port 0 ACTIVE
  wait_until 15 "health says ready" health_is ready
  wait_until 5 "nothing is left to say" no_finding driver-in-use
}
