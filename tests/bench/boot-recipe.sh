# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: boot with the reload of the driver in rc.local and systemd-networkd
# install: none
# boots: 2
# timeout: 180

# shellcheck source=tests/lab/guest/boot-times.sh
. /run/lab/boot-times.sh

scenario() { measure_boot recipe install_recipe; }
