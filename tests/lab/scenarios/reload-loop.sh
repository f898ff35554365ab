# SPDX-License-Identifier: GPL-2.0-or-later
# summary: reloads asked for one after the other (or minutes of them): ready after each, nothing leaked, the kernel sane
# adapters: 1
# start: snapshot
# soak: yes
# timeout: ${PVRDMA_LAB_RELOAD_TIMEOUT:-900}
#
# Shorter, and with several adapters: reload-links-up. PVRDMA_LAB_RELOAD_MINUTES=10 PVRDMA_LAB_RELOAD_TIMEOUT=900 goes on for ten minutes at least.

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "and is at rest" at_rest
  local round=0 end
  end=$(($(uptime_ms) + ${PVRDMA_LAB_RELOAD_MINUTES:-0} * 60000))
  leaks_begin
  while ((round < ${PVRDMA_LAB_ROUNDS:-4} || $(uptime_ms) < end)); do
    round=$((round + 1))
    expect "reload $round" pvrdma-agentctl reload
    wait_until 30 "the port is paired" all_paired
    wait_until 30 "health says ready" health_is ready
  done
  wait_until 60 "at rest again" at_rest
  leaks_end
  expect_equal "the executor counts as many reloads" "$round" "$(ledger .reloads)"
  expect "changes of the ports are counted: $(port_transitions)" [ "$(port_transitions)" -ge $((2 * round)) ]
}
