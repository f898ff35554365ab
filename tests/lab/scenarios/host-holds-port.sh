# summary: the host holds the port down: converging, then failed with the host's hint; the host lets go: ready within 15 s
# adapters: 1
# start: snapshot
# port: DOWN

seen_states() { agent_journal -o cat | grep -oE '^(converging|ready|degraded|failed):' | tr -d '\n'; }

scenario() {
  wait_until 60 "the host-side finding" finding port-down
  expect "it has the esxcli line" sh -c "pvrdma-agentctl health | tr -s ' \n' ' ' | grep -q 'esxcli system settings advanced set -o /Net/PVRDMAVmknic -s vmk0'"
  expect "first converging, then failed" [ "$(seen_states)" = "converging:failed:" ]
  expect_equal "exit status of health" 2 "$(pvrdma-agentctl health >/dev/null; echo $?)"
  local pid reloads
  pid=$(agent_pid)
  host port 0 ACTIVE
  wait_until 45 "health says ready" health_is ready
  reloads=$(health_query .executor.reloads)
  expect_equal "the agent was not restarted" "$pid" "$(agent_pid)"
  holds_for 20 "no reload after success" reloads_are "$reloads"
}
