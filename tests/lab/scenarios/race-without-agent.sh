# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the lab itself: the boots of race-with-agent without the agent, with their oopses counted
# suite: trixie
# install: none
# adapters: 2
# loaders: yes
# cpus: 2
# boots: ${PVRDMA_LAB_RACE_BOOTS:-2}
# soak: yes
# allow-oops: links that come up while vmw_pvrdma probes crash it
#
# No number of oopses fails the scenario, as in few boots there may be none. It fails if the manager did not bring the links up.

# shellcheck source=tests/lab/guest/race.sh
. /run/lab/race.sh
early() { race_early; }

# The package is not installed; doctor is unpacked from it, as an administrator might do before the installation. After the
# oops each call to the driver may hang for good, and doctor must not hang.
doctor_tells() {
  dpkg-deb -x debs/*.deb unpacked
  local status=0
  timeout 30 unpacked/usr/bin/pvrdma-agentctl doctor --json >doctor.json || status=$?
  expect_equal "doctor's exit status" 2 "$status"
  gojq -r '.findings[] | "\(.id): \(.summary)"' doctor.json
  expect_equal "doctor's first finding, and who has to act" "driver-crashed guest" \
    "$(gojq -r '.findings[0] | "\(.id) \(.actor)"' doctor.json)"
}

scenario() {
  wait_until 150 "$(race_manager): the ports are ACTIVE, or the kernel complained" race_over
  race_note
  if oopsed; then
    expect "the oops is in the driver" sh -c 'dmesg | grep -q "RIP.*pvrdma_netdevice_event_work"'
    doctor_tells
  fi
  wait_until 60 "the manager has brought both links up" each_adapter netdev_up
  race_next_boot
}
