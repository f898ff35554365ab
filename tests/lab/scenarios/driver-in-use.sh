# summary: a process holds a verbs context and a reload is due: refused by name, nothing harmed, carried on when it ends
# adapters: 1

reloaded() { (($(ledger .reloads) >= 1)); }

scenario() {
  wait_until 60 "health says ready" health_is ready
  start_job 0
  expect_equal "a reload by hand is refused" 1 "$(pvrdma-agentctl reload >refusal 2>&1; echo $?)"
  cat refusal
  expect "with PID and command" grep -q "$job.*ibv_asyncwatch\|ibv_asyncwatch.*$job" refusal

  host port 0 DOWN
  wait_until 30 "a reload is due, and the finding names who is waited for" held_by driver-in-use "$job" ibv_asyncwatch
  pvrdma-agentctl health || true
  holds_for 10 "the process keeps running" kill -0 "$job"
  expect_not "its link was left alone" grep -q PORT_ERR events
  kill "$job"
  wait "$job" || true
  wait_until 30 "the agent goes on by itself" reloaded
  host port 0 ACTIVE
  wait_until 15 "health says ready" health_is ready
  wait_until 5 "nothing is left to say" no_finding driver-in-use
}
