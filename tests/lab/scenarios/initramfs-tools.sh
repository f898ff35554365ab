# SPDX-License-Identifier: GPL-2.0-or-later
# summary: an initramfs that is too old is found, and refreshed once by the package; it loads the driver, in order, and no reload follows; kdump-tools' own has nothing of it
# adapters: 1
# programs: kdump-tools
# initrd: own
# boots: 2
# timeout: 900

# shellcheck source=tests/lab/guest/initramfs.sh
. /run/lab/initramfs.sh

# By kdump-tools' own script, with the driver among the boot's modules, as an administrator may have it.
kdump_has_nothing() {
  use_programs
  echo vmw_pvrdma >>/etc/initramfs-tools/modules
  expect "kdump-tools makes its image" /etc/kernel/postinst.d/kdump-tools "$(uname -r)"
  lsinitramfs "/var/lib/kdump/initrd.img-$(uname -r)" >content
  expect "it is one" grep -q virtio_blk.ko content
  expect_equal "it has nothing of ours but modprobe.d" usr/lib/modprobe.d/pvrdma-agent.conf "$(grep pvrdma content | sed 's,^lib/,usr/lib/,' | sort -u)"
  expect_not "nor the modules that come before the driver" grep -E '(mlx4_ib|ib_umad|rdma_u?cm)\.ko' content
}

scenario() {
  wait_boot 120
  if ((BOOT == 1)); then
    # Of its thousand processes a third less.
    printf 'MODULES=list\nBUSYBOX=n\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n' >/etc/initramfs-tools/conf.d/lab
    chmod -x /usr/share/initramfs-tools/hooks/{dmsetup,fsck,keymap,resume,thermal}
    printf '%s\n' virtio_pci virtio_blk virtio_console ext4 >/etc/initramfs-tools/modules
    refresh_by_package 'generating.*/boot/initrd' dpkg -i debs/*.deb
    kdump_has_nothing
  else
    expect_early_driver
    expect_old_once_changed
  fi
}
