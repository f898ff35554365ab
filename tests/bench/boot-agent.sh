# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: boot with the agent and systemd-networkd
# boots: 2
# timeout: 180

# shellcheck source=tests/lab/guest/boot-times.sh
. /run/lab/boot-times.sh

scenario() { measure_boot agent; }
