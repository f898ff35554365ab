# summary: modprobe -r vmw_pvrdma by hand works at any time in steady state; the agent notices and brings it back
# adapters: 1
# timeout: 240

scenario() {
  wait_until 60 "health says ready" health_is ready
  local round
  for ((round = 1; round <= ${PVRDMA_LAB_ROUNDS:-3}; round++)); do
    # Anywhere between two looks, which are fifteen seconds apart.
    read -r -t "$((1 + round * 4 % 15)).3" -u 8 || true
    expect "round $round: modprobe -r vmw_pvrdma" modprobe -r vmw_pvrdma
    wait_until 30 "round $round: the port is back" port_is 0 ACTIVE
    wait_until 15 "round $round: health says ready" health_is ready
  done
  expect_equal "none of it was a reload of the agent's" 0 "$(health_query .executor.reloads)"
}
