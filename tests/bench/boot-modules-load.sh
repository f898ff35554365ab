# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: boot with modules-load.d and systemd-networkd
# install: none
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  measure_boot modules-load install_modules_load
}
