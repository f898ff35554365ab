# SPDX-License-Identifier: GPL-2.0-or-later
# summary: as initramfs-tools, with dracut, also on a full /boot; nothing of it in kdump's images; then a boot as Enterprise Linux has it, with NetworkManager for the links: ready
# suite: dracut
# adapters: 1
# network: yes
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
    boot_is_full
    refresh_by_package 'pvrdma-agent: /boot/initrd.* is made anew' rpm -U next/*.rpm
    expect "what there was besides is there, byte for byte" sha256sum --check --quiet others.sums
    cp "/boot/initrd.img-$(uname -r)" image
    umount /boot
    mv image "/boot/initrd.img-$(uname -r)"
    kdump_has_nothing
    install -m 600 /dev/stdin /etc/NetworkManager/system-connections/ens16f0.nmconnection <<'KEYFILE'
[connection]
id=ens16f0
type=ethernet
interface-name=ens16f0

[ipv4]
method=manual
address1=192.168.30.201/24
KEYFILE
    systemctl enable NetworkManager.service
  else
    expect_early_driver
    beside_networkmanager
    expect_old_once_changed
  fi
}

# A file system as small as /boot often is, full but for what one image does not fit into: with the image of this kernel, of one that is
# not installed, a rescue image, and kdump's.
boot_is_full() {
  local kernel
  kernel=$(uname -r)
  truncate -s 48M boot.img
  mkfs.ext4 -q -m 0 boot.img
  mount -o loop boot.img /boot
  head -c 3M /dev/urandom >"/boot/initrd.img-$kernel"
  head -c 3M /dev/urandom >/boot/initrd.img-5.14.0-1.el9.x86_64
  head -c 3M /dev/urandom >/boot/initramfs-0-rescue-0123456789abcdef0123456789abcdef.img
  head -c 3M /dev/urandom >"/boot/initramfs-${kernel}kdump.img"
  fallocate -l "$(($(df --output=avail -B1 /boot | tail -n 1) - (1 << 20)))" /boot/filler
  sha256sum /boot/init* >full.sums
  grep -v "initrd.img-$kernel\$" full.sums >others.sums
  expect_equal "images" 4 "$(wc -l <full.sums)"
  rpm -U --replacepkgs rpms/*.rpm >full.out 2>&1
  cat full.out
  expect "on a full /boot every image stays, byte for byte" sha256sum --check --quiet full.sums
  expect_equal "and there is no other" 4 "$(find /boot -name '*init*' | wc -l)"
  expect_equal "one line says which, why, and what to do" 1 "$(grep -cE \
    "^pvrdma-agent: /boot/initrd.img-$kernel is left as it was: the new one takes [0-9]+ KiB, and /boot has [0-9]+ KiB free; .* run /usr/libexec/pvrdma-agent/refresh-initramfs$" full.out)"
  expect_equal "nothing is left of it elsewhere" "" "$(find /var/tmp -name 'pvrdma-agent.*')"
  rm /boot/filler
}

# As Enterprise Linux's mkdumprd asks for one, and as Ubuntu's kdump-tools does, by the name; each with the driver named by an administrator.
kdump_has_nothing() {
  local options=(--force --hostonly --hostonly-mode strict --hostonly-nics '' --no-hostonly-default-device --add-drivers vmw_pvrdma)
  mkdir -p /var/lib/kdump
  expect "an image of mkdumprd's" env IN_KDUMP=1 dracut "${options[@]}" el.img
  expect "an image of kdump-tools'" dracut "${options[@]}" /var/lib/kdump/initrd.img.new
  local image
  for image in el.img /var/lib/kdump/initrd.img.new; do
    lsinitrd "$image" | awk '$1 ~ /^[-ld]/ { print $9 }' >content
    expect "$image is one" grep -q virtio_blk.ko content
    expect_equal "$image has nothing of ours but modprobe.d" usr/lib/modprobe.d/pvrdma-agent.conf "$(grep pvrdma content | sed 's,^lib/,usr/lib/,' | sort -u)"
    expect_not "nor the modules that come before the driver" grep -E '(mlx4_ib|ib_umad|rdma_u?cm)\.ko' content
  done
}

beside_networkmanager() {
  expect_equal "the port" ACTIVE "$(port_state 0)"
  wait_until 60 "NetworkManager has the link" managed_by 0 NetworkManager
  wait_until 60 "with its address" has_ipv4 ens16f0 192.168.30.201/24
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
  local agent network
  agent=$(systemctl show -P ActiveEnterTimestampMonotonic pvrdma-agent.service)
  network=$(systemctl show -P ActiveEnterTimestampMonotonic NetworkManager.service)
  expect "the agent stood before NetworkManager ($agent us, $network us)" test "$agent" -le "$network"
  systemctl start pvrdma-online.target
  expect "who waits for ready adapters is let through" unit_active pvrdma-online.target
  pvrdma-agentctl health
}
