# SPDX-License-Identifier: GPL-2.0-or-later
# summary: modprobe -r vmxnet3 by hand, again and again: the agent brings both adapters up again with their addresses, and leaks nothing
# adapters: 2
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-900}

addresses() { ip -o -4 address show | awk '{ print $2, $4 }' | sort; }

early() {
  printf '[[adapter]]\nmatch = { pci = "%s" }\naddresses = ["192.168.30.201/24"]\n' "$(function_of 0)" | agent_config
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "the executor is at rest" at_rest
  local round addresses_before counted
  addresses_before=$(addresses) counted=$(port_transitions)
  leaks_begin
  for ((round = 1; round <= ${PVRDMA_LAB_ROUNDS:-3}; round++)); do
    modprobe -r vmxnet3
    wait_until 60 "round $round: the netdevs are back and paired" all_paired
    wait_until 60 "round $round: health says ready" health_is ready
    expect_equal "round $round: the addresses" "$addresses_before" "$(addresses)"
  done
  wait_until 60 "the executor is at rest again" at_rest
  leaks_end
  expect "changes of the ports are counted: $counted before, $(port_transitions) now" [ "$(port_transitions)" -gt "$counted" ]
  echo "by $(ledger .reloads) reloads and $(ledger .rebinds) rebinds"
}
