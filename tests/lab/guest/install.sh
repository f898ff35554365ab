# SPDX-License-Identifier: GPL-2.0-or-later
# summary: installs the agent's packages as an administrator does
# timeout: 400
# Not a test: scenarios with `install: yes` start from its disk, after a clean shutdown.

scenario() {
  wait_boot 120
  install_packages
  # The start jobs of the units must have ended before the disk is frozen, successful or not.
  wait_boot 120
}
