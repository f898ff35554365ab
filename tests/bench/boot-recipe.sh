# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: boot with the reload of the driver in rc.local and systemd-networkd
# install: none
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  measure_boot recipe install_recipe
}
