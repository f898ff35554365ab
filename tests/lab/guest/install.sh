# SPDX-License-Identifier: GPL-2.0-or-later
# summary: installs the agent's packages as an administrator does
# timeout: 400
# Not a test: scenarios with `install: yes` start from its disk, after a clean shutdown.

# As on a host whose CPUs others have: the agent has a sixteenth of a CPU, and an executor begins after seconds. A scenario that
# expects at once what only a quick machine has done by then fails.
starve_units() {
  mkdir -p /etc/systemd/system/pvrdma-agent{,-executor}.service.d
  printf '[Service]\nCPUQuota=6%%\nTimeoutStartSec=120\n' >/etc/systemd/system/pvrdma-agent.service.d/starved.conf
  printf '[Service]\nCPUQuota=20%%\nExecStartPre=+/bin/sleep 1.5\n' >/etc/systemd/system/pvrdma-agent-executor.service.d/starved.conf
}

scenario() {
  wait_boot 120
  [[ -z ${PVRDMA_LAB_STARVED:-} ]] || starve_units
  install_packages
  # The start jobs of the units must have ended before the disk is frozen, successful or not.
  wait_boot 120
}
