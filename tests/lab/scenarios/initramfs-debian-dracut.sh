# SPDX-License-Identifier: GPL-2.0-or-later
# summary: as initramfs-tools, where update-initramfs is that of dracut, as on Ubuntu 26.04: an old image is a finding, the package refreshes it once, it loads the driver in order
# suite: forky
# adapters: 1
# initrd: own
# boots: 2
# timeout: 900
# soak: yes

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh

scenario() {
  wait_boot 120
  if ((BOOT == 1)); then
    small_dracut
    refresh_by_package 'generating.*/boot/initrd' dpkg -i debs/*.deb
  else
    expect_early_driver
    expect_old_once_changed
  fi
}
