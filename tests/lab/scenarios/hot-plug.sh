# SPDX-License-Identifier: GPL-2.0-or-later
# summary: an adapter is removed and added again and again, or rebound by hand: ready each time; the agent does not disturb the neighbour's job
# adapters: 2
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-420}
#
# QEMU cannot plug the pair of functions in again. For the guest removal and rescan through sysfs are the same, with
# the driver's own remove and probe. The removal alone sends the neighbour's job a PORT_ERR and takes its netdev
# (a leaving function's notifier), which the agent cannot prevent.

finds_release() { finding driver-in-use | grep -q 'was unbound from'; }
# By the command that this finding's remedy has.
processes_of_gone_nodes() { find /proc/[0-9]*/fd -lname '*/infiniband/uverbs*(deleted)' 2>/dev/null | cut -d/ -f3 | sort -u; }
no_call() { [[ $(health_query .executor.busy) == null ]]; } # is under way

scenario() {
  wait_until 60 "health says ready" health_is ready
  local round
  for ((round = 1; round <= ${PVRDMA_LAB_ROUNDS:-2}; round++)); do
    remove_adapter 1
    wait_until 20 "$round: one adapter is left" adapter_count 1
    wait_until 60 "$round: the remaining adapter has its netdev again" survivor_mended 0
    rescan_pci
    wait_until 20 "$round: two adapters are there" adapter_count 2
    wait_until 60 "$round: all are paired" all_paired
    wait_until 60 "$round: health says ready" health_is ready
  done

  start_job 0
  remove_adapter 1
  wait_until 20 "beside a job: one adapter is left" adapter_count 1
  wait_until 20 "the job's adapter has lost its netdev, which is a finding" finding netdev-lost
  expect_equal "its port is still" ACTIVE "$(port_state 0)"
  local told
  told=$(grep -c event_type events || true)
  rescan_pci
  wait_until 20 "the other adapter is back" adapter_count 2
  wait_until 30 "the other adapter is ready beside the job" adapter_is 1 ready
  holds_for 5 "the job sees no further event" sh -c "[ \"\$(grep -c event_type events)\" = $told ]"
  kill "$job"
  wait "$job" || true
  wait_until 60 "the job ends: all adapters are paired again" all_paired
  wait_until 30 "health says ready" health_is ready

  # A rebind by hand also makes the driver lose the neighbour's netdev.
  local reloads own
  reloads=$(health_query .executor.reloads)
  start_job 0
  own=$job
  start_job 1
  function_of 0 >/sys/bus/pci/drivers/vmw_pvrdma/unbind &
  wait_until 20 "an unbind by hand waits for the adapter's job" grep -q '^State:.D' "/proc/$!/status"
  holds_for 5 "no call to the executor waits as well" no_call
  wait_until 20 "a finding says that the kernel waits for processes" finds_release
  expect "what the kernel no longer tells of this adapter is no finding" no_finding unreadable
  expect_equal "the finding's command names the job of this adapter alone" "$own" "$(processes_of_gone_nodes)"
  kill "$own"
  wait "$own" || true
  wait_until 30 "rebound by hand: the agent binds adapter 0 again" driver_bound 0
  wait_until 30 "there is a finding about the survivor's netdev" finding netdev-lost
  wait_until 60 "a finding says that a process holds the driver" found_in_use
  expect_equal "the survivor's port" ACTIVE "$(port_state 1)"
  kill "$job"
  wait "$job" || true
  wait_until 60 "all are paired again" all_paired
  wait_until 20 "health says ready" health_is ready
  expect_equal "one reload was enough" $((reloads + 1)) "$(health_query .executor.reloads)"
}
