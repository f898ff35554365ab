# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: boot with the agent and systemd-networkd, the driver in the initramfs
# initrd: own
# boots: 2
# timeout: 600

# shellcheck source=tests/lab/guest/boot-times.sh
. /run/lab/boot-times.sh

scenario() { measure_boot initramfs-agent install_initramfs; }
