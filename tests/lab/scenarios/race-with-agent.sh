# SPDX-License-Identifier: GPL-2.0-or-later
# summary: Linux 6.12, two adapters, managers that bring links up at boot: with the agent no link comes up while the driver probes, no oops
# suite: trixie
# adapters: 2
# boots: ${PVRDMA_LAB_RACE_BOOTS:-4}
#
# In race-without-agent the same boots crash the driver; guest/race.sh describes them. That scenario has
# two CPUs, as its crashes depend on chance; this one tests the order.

# shellcheck source=tests/lab/guest/race.sh
. /run/lab/race.sh
early() { race_early; }

scenario() {
  wait_until 150 "$(race_manager): the ports are ACTIVE, or the kernel complained" race_over
  race_note
  ! oopsed || { cat /run/lab/complaints; die "the kernel complained"; }
  expect "the kernel has told when links came up" [ "$(kernel_ms "$link_came_up" | wc -l)" -ge "$LAB_ADAPTERS" ]
  expect_equal "links up before the driver had probed both" 0 "$(links_before_driver)"
  wait_until 60 "health says ready" health_is ready
  expect "the manager has brought both links up" each_adapter netdev_up
  ! oopsed || { cat /run/lab/complaints; die "the kernel complained"; }
  race_next_boot
}
