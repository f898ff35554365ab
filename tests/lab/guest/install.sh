# SPDX-License-Identifier: GPL-2.0-or-later
# summary: installs the agent's packages, the way an administrator would
# timeout: 400
# Not a test: its disk, after a clean shutdown, is what scenarios with `install: yes` start from.

scenario() {
  wait_boot 120
  install_packages
  # Wherever the units got to, their start jobs must be over before the disk is frozen.
  wait_boot 120
}
