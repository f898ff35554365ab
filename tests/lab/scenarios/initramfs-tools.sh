# SPDX-License-Identifier: GPL-2.0-or-later
# summary: an initramfs that is too old is a finding, and the package refreshes it once; it loads the driver in order, and no reload follows
# adapters: 1
# initrd: own
# boots: 2
# start: snapshot
# timeout: 900

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh

scenario() {
  wait_boot 120
  if ((BOOT == 1)); then
    # This saves a third of the thousand processes that the hook runs.
    printf 'MODULES=list\nBUSYBOX=n\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >/etc/initramfs-tools/conf.d/lab
    find /usr/share/initramfs-tools/hooks -regex '.*/\(dmsetup\|fsck\|keymap\|resume\|thermal\)' -exec chmod -x {} +
    printf '%s\n' virtio_pci virtio_blk virtio_console ext4 >/etc/initramfs-tools/modules
    refresh_by_package 'generating.*/boot/initrd' dpkg -i debs/*.deb
  else
    expect_early_driver
    expect_old_once_changed
  fi
}
