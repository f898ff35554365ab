# SPDX-License-Identifier: GPL-2.0-or-later
# summary: reloads one after the other (or for minutes): ready after each, nothing leaked, no complaint of the kernel
# adapters: 1
# start: snapshot
# soak: yes
# timeout: ${PVRDMA_LAB_RELOAD_TIMEOUT:-900}
#
# reload-links-up is shorter and has several adapters. With PVRDMA_LAB_RELOAD_MINUTES=10 PVRDMA_LAB_RELOAD_TIMEOUT=900 this runs for at least ten minutes.

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "the executor is at rest" at_rest
  local round=0 end
  end=$(($(uptime_ms) + ${PVRDMA_LAB_RELOAD_MINUTES:-0} * 60000))
  leaks_begin
  while ((round < ${PVRDMA_LAB_ROUNDS:-4} || $(uptime_ms) < end)); do
    round=$((round + 1))
    expect "reload $round" pvrdma-agentctl reload
    wait_until 30 "the port is paired" all_paired
    wait_until 30 "health says ready" health_is ready
  done
  wait_until 60 "the executor is at rest again" at_rest
  leaks_end
  expect_equal "the executor counts as many reloads" "$round" "$(ledger .reloads)"
  expect "changes of the ports are counted: $(port_transitions)" [ "$(port_transitions)" -ge $((2 * round)) ]
}
