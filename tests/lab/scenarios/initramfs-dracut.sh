# summary: as initramfs-tools, with dracut; then a boot as Enterprise Linux has it, with NetworkManager for the links: ready
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
    refresh_by_package 'creating image file.*/boot/initrd' rpm -U next/*.rpm
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
