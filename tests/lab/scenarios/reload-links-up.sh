# SPDX-License-Identifier: GPL-2.0-or-later
# summary: three adapters with their links up: reloads, and loads after an unload by hand, do not crash the driver and leak nothing
# adapters: 3
# cpus: 2
# start: snapshot
#
# modprobe has one function probed right after the other, while the driver still handles the link events that the kernel
# replays for the one before; about every second time that is an oops. Here the workers that handle these events get a
# CPU for only 50 ms of each second, as on an overloaded host. An executor that does not wait for these workers causes an
# oops at once, and a complaint of the kernel fails the scenario.

starve_workers() {
  echo 2 >/sys/devices/virtual/workqueue/cpumask
  chrt -f 99 taskset -c 1 sh -c 'while :; do :; done' &
}
reload() { pvrdma-agentctl reload --json >answer; }
held_back() { grep -l pvrdma-agent /sys/bus/pci/devices/*/driver_override; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  # Linux 7.2 says 1000000, but a deadline server gives the others the same 50 ms.
  expect "real-time tasks leave some time to others" grep -qx -e 950000 -e 1000000 /proc/sys/kernel/sched_rt_runtime_us
  wait_until 60 "the executor is at rest" at_rest
  leaks_begin
  starve_workers
  local n
  for n in 1 2 3; do
    expect "reload $n" reload
    expect_equal "the answer is what a look saw after the reload: reloads" "$n" "$(gojq .health.executor.reloads answer)"
    wait_until 20 "all adapters are paired" all_paired
    wait_until 20 "health says ready" health_is ready
  done
  expect_equal "the executor counts as many reloads" 3 "$(ledger .reloads)"
  expect "changes of the ports are counted: $(port_transitions)" [ "$(port_transitions)" -ge 6 ]
  for n in 1 2; do
    # The unload comes at any time between two looks, which are thirty seconds apart. Until then no worker need be starved.
    kill -STOP %1
    pause_ms "$((1300 + n * 4000))"
    kill -CONT %1
    expect "unload $n by hand: modprobe -r vmw_pvrdma" modprobe -r vmw_pvrdma
    wait_until 60 "unload $n by hand: all adapters are paired again" all_paired
    wait_until 20 "health says ready" health_is ready
    expect_equal "the port" ACTIVE "$(port_state 0)"
  done
  expect_equal "the agent has made no further reload" 3 "$(health_query .executor.reloads)"
  kill %1
  wait_until 60 "the executor is at rest again" at_rest
  leaks_end
  expect_not "no function is held back" held_back
}
