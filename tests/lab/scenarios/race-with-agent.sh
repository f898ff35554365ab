# summary: Linux 6.12, two adapters, managers that push links up at boot: with the agent no link comes up while the driver probes, no oops
# suite: trixie
# adapters: 2
# boots: ${PVRDMA_LAB_RACE_BOOTS:-4}
# timeout: 240
#
# Beside race-without-agent, where the very same boots crash the driver; guest/race.sh tells what they are. No boot is
# held up for more than 20 s: where the emulated CPU is so short of time that the modules are not loaded by then, the
# managers go ahead, and what keeps the driver from its oops is that the agent has it probe one adapter at a time.

# shellcheck source=tests/lab/guest/race.sh
. /run/lab/race.sh
early() { race_early; }

let_go_by_the_clock() {
  local began stood
  began=$(systemctl show -P ExecMainStartTimestampMonotonic pvrdma-agent.service)
  stood=$(systemctl show -P ActiveEnterTimestampMonotonic pvrdma-agent.service)
  ((stood - began >= 20000000))
}

scenario() {
  wait_until 150 "$(race_manager): the ports are ACTIVE, or the kernel complained" race_over
  race_note
  ! oopsed || { cat /run/lab/complaints; die "the kernel complained"; }
  if let_go_by_the_clock; then
    echo "the agent held the boot up for 20 s, and no longer"
  else
    expect_equal "links up before the driver had probed both" 0 "$(links_before_driver)"
  fi
  wait_until 60 "health says ready" health_is ready
  expect "the manager has pushed both links up" each_adapter netdev_up
  ! oopsed || { cat /run/lab/complaints; die "the kernel complained"; }
  race_next_boot
}
