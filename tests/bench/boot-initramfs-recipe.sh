# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: boot with the reload of the driver in rc.local and systemd-networkd, from the same initramfs without the driver
# install: none
# initrd: own
# boots: 2
# timeout: 600

# shellcheck source=tests/lab/guest/boot-times.sh
. /run/lab/boot-times.sh

scenario() { measure_boot initramfs-recipe install_recipe install_initramfs; }
