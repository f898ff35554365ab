# SPDX-License-Identifier: GPL-2.0-or-later
# summary: as initramfs-tools, with dracut; then a boot as on Enterprise Linux, where NetworkManager has the links: ready
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
    refresh_by_package 'pvrdma-agent: /boot/initrd.* is made anew' rpm -U next/*.rpm
    keyfile ens16f0 method=manual address1=192.168.30.201/24
    systemctl --no-reload enable NetworkManager.service
  else
    expect_early_driver
    beside_networkmanager
    expect_old_once_changed
  fi
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
