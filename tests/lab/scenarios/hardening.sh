# summary: the units' exposure: at most 1.5 for the agent and 4.0 for the executor; the CLI's rights
# adapters: 1

exposure() { systemd-analyze security --no-pager "$1" | awk '/Overall exposure level/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]$/) print $i }'; }
at_most() { awk -v seen="$1" -v most="$2" 'BEGIN { exit !(seen != "" && seen + 0 <= most + 0) }'; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  local agent executor
  agent=$(exposure pvrdma-agent.service)
  executor=$(exposure pvrdma-agent-executor.service)
  expect "the agent's exposure, $agent, is at most 1.5" at_most "$agent" 1.5
  expect "the executor's exposure, $executor, is at most 4.0" at_most "$executor" 4.0
  expect_equal "the agent's capabilities" 0000000000000000 \
    "$(awk '/^CapEff/ { print $2 }' "/proc/$(systemctl show -P MainPID pvrdma-agent.service)/status")"
  expect_equal "the executor's socket" "600 pvrdma-agent" "$(stat -c '%a %U' /run/pvrdma-agent-executor/io.pvrdma.Executor)"
  expect "anyone may ask for health" setpriv --reuid nobody --regid nogroup --clear-groups pvrdma-agentctl health
  expect_not "but not reload" setpriv --reuid nobody --regid nogroup --clear-groups pvrdma-agentctl reload
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
}
