# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the units' exposure is at most 1.4 for the agent and 2.7 for the executor; their limits; the rights of the CLI
# adapters: 1
# start: snapshot

exposure() { systemd-analyze security --no-pager "$1" | awk '/Overall exposure level/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]$/) print $i }'; }
at_most() { awk -v seen="$1" -v most="$2" 'BEGIN { exit !(seen != "" && seen + 0 <= most + 0) }'; }
bounded() { # UNIT
  [[ $(systemctl show -P LimitCORE "$1") == 0 && $(systemctl show -P MemoryMax "$1") != infinity &&
    $(systemctl show -P TasksMax "$1") -le 32 ]]
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  local agent executor
  agent=$(exposure pvrdma-agent.service)
  executor=$(exposure pvrdma-agent-executor.service)
  expect "the agent's exposure, $agent, is at most 1.4" at_most "$agent" 1.4
  expect "the executor's exposure, $executor, is at most 2.7" at_most "$executor" 2.7
  expect_equal "the agent's capabilities" 0000000000000000 \
    "$(awk '/^CapEff/ { print $2 }' "/proc/$(agent_pid)/status")"
  expect_equal "the executor's socket" "600 pvrdma-agent" "$(stat -c '%a %U' /run/pvrdma-agent-executor/io.pvrdma.Executor)"
  for unit in pvrdma-agent pvrdma-agent-executor pvrdma-agent-guestinfo pvrdma-agent-wait-online; do
    expect "$unit has limits, and writes no core file" bounded "$unit.service"
  done
  expect "every user may ask for health" setpriv --reuid nobody --regid nogroup --clear-groups pvrdma-agentctl health
  expect_not "an unprivileged user may not reload" setpriv --reuid nobody --regid nogroup --clear-groups pvrdma-agentctl reload
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
}
