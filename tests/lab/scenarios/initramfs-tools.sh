# summary: an initramfs that is too old is found, and refreshed once by the package; it loads the driver, in order, and no reload follows
# adapters: 1
# initrd: own
# boots: 2
# timeout: 900

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh

scenario() {
  wait_boot 120
  if ((BOOT == 1)); then
    # Of its thousand processes a third less.
    printf 'MODULES=list\nBUSYBOX=n\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >/etc/initramfs-tools/conf.d/lab
    chmod -x /usr/share/initramfs-tools/hooks/{dmsetup,fsck,keymap,resume,thermal}
    printf '%s\n' virtio_pci virtio_blk virtio_console ext4 >/etc/initramfs-tools/modules
    refresh_by_package 'generating.*/boot/initrd' dpkg -i debs/*.deb
  else
    expect_early_driver
    expect_old_once_changed
  fi
}
