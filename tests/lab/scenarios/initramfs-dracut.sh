# summary: as initramfs-tools, with dracut: found, refreshed, driver in order
# suite: dracut
# adapters: 1
# initrd: own
# boots: 2
# timeout: 400

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh

scenario() {
  wait_boot 120
  if ((BOOT == 1)); then
    cat >/etc/dracut.conf.d/lab.conf <<'CONF'
dracutmodules="base kernel-modules rootfs-block udev-rules fs-lib pvrdma-agent"
drivers="virtio_pci virtio_blk virtio_console ext4"
compress="zstd -1"
CONF
    refresh_by_package 'creating image file.*/boot/initrd' rpm -U next/*.rpm
  else
    expect_early_driver
    expect_old_once_changed
  fi
}
