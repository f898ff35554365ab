# SPDX-License-Identifier: GPL-2.0-or-later
# summary: as initramfs-tools, with dracut, also on a full /boot; kdump's images contain no files of the agent; then a boot as on Enterprise Linux, where NetworkManager has the links: ready
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
    small_dracut
    boot_is_full
    refresh_by_package 'pvrdma-agent: /boot/initrd.* is made anew' rpm -U next/*.rpm
    expect "all other files are unchanged, byte for byte" sha256sum --check --quiet others.sums
    cp "/boot/initrd.img-$(uname -r)" image
    options_stay
    umount /boot
    mv image "/boot/initrd.img-$(uname -r)"
    kdump_has_nothing
    any_machine_has_modprobe_d
    masked_order_asks_nothing
    keyfile ens16f0 method=manual address1=192.168.30.201/24
    systemctl enable NetworkManager.service
  else
    expect_early_driver
    beside_networkmanager
    expect_old_once_changed
  fi
}

# A small file system, as /boot often is, without room for another image. It has the image of this kernel, one of a kernel that is
# not installed, a rescue image, and one of kdump.
boot_is_full() {
  local kernel
  kernel=$(uname -r)
  truncate -s 48M boot.img
  mkfs.ext4 -q -m 0 boot.img
  mount -o loop boot.img /boot
  head -c 64K /dev/urandom >"/boot/initrd.img-$kernel"
  head -c 64K /dev/urandom >/boot/initrd.img-5.14.0-1.el9.x86_64
  head -c 64K /dev/urandom >/boot/initramfs-0-rescue-0123456789abcdef0123456789abcdef.img
  head -c 64K /dev/urandom >"/boot/initramfs-${kernel}kdump.img"
  fallocate -l "$(($(df --output=avail -B1 /boot | tail -n 1) - (1 << 20)))" /boot/filler
  sha256sum /boot/init* >full.sums
  grep -v "initrd.img-$kernel\$" full.sums >others.sums
  expect_equal "images" 4 "$(wc -l <full.sums)"
  # A refresh that a power cut ended left this.
  head -c 64K /dev/urandom >"/boot/.initrd.img-$kernel.pvrdma-agent"
  # The image has few files, as this test is not about them; it still takes more than the MiB that is free.
  echo 'dracutmodules="kernel-modules pvrdma-agent"' >/etc/dracut.conf.d/zz-lab.conf
  rpm -U --replacepkgs rpms/*.rpm >full.out 2>&1
  rm /etc/dracut.conf.d/zz-lab.conf
  cat full.out
  expect "on a full /boot every image stays, byte for byte" sha256sum --check --quiet full.sums
  expect_equal "there is no other image, and the one of an interrupted refresh is gone" 4 "$(find /boot -name '*init*' | wc -l)"
  expect_equal "one line has the image, the reason, and what to do" 1 "$(grep -cE \
    "^pvrdma-agent: /boot/initrd.img-$kernel is left as it was: the new one takes [0-9]+ KiB, and /boot has [0-9]+ KiB free; .* run /usr/libexec/pvrdma-agent/refresh-initramfs$" full.out)"
  expect_equal "no temporary file is left" "" "$(find /var/tmp -name 'pvrdma-agent.*')"
  rm /boot/filler
}

# The new image is made with the options of the old one, among them two by which both take little time, and is never a program for
# UEFI, for which the guest lacks the stub.
options_stay() {
  local image
  image=/boot/initrd.img-$(uname -r)
  echo 'uefi=yes' >/etc/dracut.conf.d/zz-uki.conf
  echo 'options vmw_pvrdma lab=2' >/etc/modprobe.d/lab.conf
  expect "dracut makes an image with options" dracut -f --no-uefi --no-kernel -m pvrdma-agent --kernel-cmdline 'lab.kept=1 lab.also=2' "$image"
  rm /etc/modprobe.d/lab.conf # so that the image is not up to date
  expect "the image is made anew" /usr/libexec/pvrdma-agent/refresh-initramfs
  expect_equal "its files are as they are now" "" "$(lsinitrd "$image" | grep -F etc/modprobe.d/lab.conf)"
  expect_equal "it has the options of the old one" 'lab.kept=1 lab.also=2' "$(lsinitrd -f etc/cmdline.d/01-default.conf "$image" | xargs)"
  rm /etc/dracut.conf.d/zz-uki.conf
}

# Images with the options of Enterprise Linux's mkdumprd and with the name that Ubuntu's kdump-tools gives; in both an administrator names the driver.
# The images lack dracut's modules for the boot, which take two thirds of the time.
kdump_has_nothing() {
  local options=(--force --hostonly --hostonly-mode strict --hostonly-nics '' --no-hostonly-default-device --add-drivers vmw_pvrdma
    --modules 'kernel-modules pvrdma-agent')
  mkdir -p /var/lib/kdump
  expect "dracut makes an image for mkdumprd" env IN_KDUMP=1 dracut "${options[@]}" el.img
  expect "dracut makes an image for kdump-tools" dracut "${options[@]}" /var/lib/kdump/initrd.img.new
  local image
  for image in el.img /var/lib/kdump/initrd.img.new; do
    lsinitrd "$image" | awk '$1 ~ /^[-ld]/ { print $9 }' >content
    expect "$image has drivers" grep -q virtio_blk.ko content
    expect_equal "$image has only the file of modprobe.d" usr/lib/modprobe.d/pvrdma-agent.conf "$(grep pvrdma content | sed 's,^lib/,usr/lib/,' | sort -u)"
    expect_not "the modules that precede the driver are not in it" grep -E '(mlx4_ib|ib_umad|rdma_u?cm)\.ko' content
  done
}

# An image for any machine (dracut-config-generic) also follows the administrator's modprobe.d, where it concerns the driver.
any_machine_has_modprobe_d() {
  echo 'options vmw_pvrdma lab=1' >/etc/modprobe.d/lab.conf
  echo 'options loop max_loop=8' >/etc/modprobe.d/other.conf
  expect "dracut makes an image for any machine" dracut --force --no-kernel --no-hostonly --drivers vmw_pvrdma --modules pvrdma-agent any.img
  expect_equal "its file of modprobe.d" 'options vmw_pvrdma lab=1' "$(lsinitrd -f etc/modprobe.d/lab.conf any.img)"
  expect_equal "no other file of /etc/modprobe.d is in it" "0-pvrdma-agent-image.conf lab.conf" \
    "$(lsinitrd any.img | awk '$1 ~ /^-/ && $9 ~ "^etc/modprobe.d/" { sub(".*/", "", $9); print $9 }' | sort | paste -sd' ')"
  rm /etc/modprobe.d/lab.conf /etc/modprobe.d/other.conf
}

# Where an administrator has masked the package's file, no module precedes the driver, and dracut must not wait for names of modules
# on its standard input, which never ends here.
masked_order_asks_nothing() {
  ln -s /dev/null /etc/modprobe.d/pvrdma-agent.conf
  mkfifo silent
  expect "dracut ends" timeout 120 dracut --force --drivers vmw_pvrdma --modules pvrdma-agent masked.img <>silent
  rm /etc/modprobe.d/pvrdma-agent.conf silent
}

beside_networkmanager() {
  expect_equal "the port" ACTIVE "$(port_state 0)"
  wait_until 60 "NetworkManager has the link" managed_by 0 NetworkManager
  wait_until 60 "NetworkManager has set its address" has_ipv4 ens16f0 192.168.30.201/24
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
  local agent network
  agent=$(systemctl show -P ActiveEnterTimestampMonotonic pvrdma-agent.service)
  network=$(systemctl show -P ActiveEnterTimestampMonotonic NetworkManager.service)
  expect "the agent was up before NetworkManager ($agent us, $network us)" test "$agent" -le "$network"
  systemctl start pvrdma-online.target
  expect "the target for ready adapters is reached" unit_active pvrdma-online.target
  pvrdma-agentctl health
}
