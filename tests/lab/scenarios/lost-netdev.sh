# summary: an adapter rebound by hand takes its neighbour's netdev away: mended by one reload once nobody holds any
# adapters: 2
# timeout: 180

scenario() {
  wait_until 60 "health says ready" health_is ready
  start_job 1
  echo "$(function_of 0)" >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  wait_until 30 "the agent binds adapter 0 again" driver_bound 0
  wait_until 30 "the finding about the survivor" finding netdev-lost
  wait_until 30 "and who is waited for" finding driver-in-use
  expect_equal "the survivor's port" ACTIVE "$(port_state 1)"
  kill "$job"
  wait "$job" || true
  wait_until 60 "all are paired again" all_paired
  wait_until 20 "health says ready" health_is ready
  expect_equal "by one reload" 1 "$(health_query .executor.reloads)"
}
