# SPDX-License-Identifier: GPL-2.0-or-later
# summary: an initramfs that is too old is a finding, and the package refreshes it once; it loads the driver in order, and no reload follows; the image of kdump-tools contains no files of the agent
# adapters: 1
# programs: kdump-tools
# initrd: own
# boots: 2
# timeout: 900

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh

# The script of kdump-tools makes the image, with the driver among the boot's modules, where an administrator may put it.
kdump_has_nothing() {
  use_programs
  echo vmw_pvrdma >>/etc/initramfs-tools/modules
  expect "kdump-tools makes its image" /etc/kernel/postinst.d/kdump-tools "$(uname -r)"
  lsinitramfs "/var/lib/kdump/initrd.img-$(uname -r)" >content
  expect "the image has drivers" grep -q virtio_blk.ko content
  expect_equal "the image has only the file of modprobe.d" usr/lib/modprobe.d/pvrdma-agent.conf "$(grep pvrdma content | sed 's,^lib/,usr/lib/,' | sort -u)"
  expect_not "the modules that precede the driver are not in it" grep -E '(mlx4_ib|ib_umad|rdma_u?cm)\.ko' content
}

scenario() {
  wait_boot 120
  if ((BOOT == 1)); then
    # This saves a third of the thousand processes that the hook runs.
    printf 'MODULES=list\nBUSYBOX=n\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >/etc/initramfs-tools/conf.d/lab
    find /usr/share/initramfs-tools/hooks -regex '.*/\(dmsetup\|fsck\|keymap\|resume\|thermal\)' -exec chmod -x {} +
    printf '%s\n' virtio_pci virtio_blk virtio_console ext4 >/etc/initramfs-tools/modules
    refresh_by_package 'generating.*/boot/initrd' dpkg -i debs/*.deb
    kdump_has_nothing
  else
    expect_early_driver
    expect_old_once_changed
  fi
}
