# SPDX-License-Identifier: GPL-2.0-or-later
# summary: jobs open and close the devices at random moments against reloads, binds, MTU and address changes: no job loses its context or a GID
# adapters: ${PVRDMA_LAB_RACE_ADAPTERS:-2}
# start: snapshot
# soak: yes
# timeout: ${PVRDMA_LAB_TIMEOUT:-6000}

opens=${PVRDMA_LAB_RACE_OPENS:-10000}
seed=${PVRDMA_LAB_RACE_SEED:-20}
counted() { gojq --arg name "$1" '.[$name] // 0' counts; } # NAME
mended() { pvrdma-agentctl reload || true; health_is ready; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  local agent_before
  agent_before=$(agent_pid)
  echo "seed $seed, $opens opens, $LAB_ADAPTERS adapters"
  /run/lab/files/races "$seed" "$opens" 6 >counts 2>lost || { cat lost; die "races"; }
  head -n 20 lost
  cat counts
  expect "as many opens as wanted" [ "$(counted opens)" -ge "$opens" ]
  expect_equal "contexts that jobs have lost" 0 "$(counted contexts-lost)"
  expect_equal "GIDs that jobs have lost" 0 "$(counted gids-lost)"
  expect_equal "devices that jobs have lost" 0 "$(counted device-fatal)"
  local name
  for name in reloads-done reloads-refused unbinds configurations; do
    expect "there were $name: $(counted "$name")" [ "$(counted "$name")" -gt 0 ]
  done
  # The last unbind may have taken a netdev from another adapter, and the executor allows thirty reloads in ten minutes.
  wait_until 660 "ready" mended
  expect_equal "the agent is the same process" "$agent_before" "$(agent_pid)"
  echo "by $(ledger .reloads) reloads and $(ledger .rebinds) rebinds; the port changed $(port_transitions) times"
}
