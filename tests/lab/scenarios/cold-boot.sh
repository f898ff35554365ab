# SPDX-License-Identifier: GPL-2.0-or-later
# summary: cold boot: the driver is loaded by modalias, the link is down; the agent makes the port ACTIVE without a reload
# adapters: 1
# loaders: yes
# regular: last

# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh

# Does udev's coldplug work for the two functions before the agent starts, so that udev is certainly first.
early() {
  modprobe "$(cat /sys/bus/pci/devices/0000:00:10.0/modalias)"
  modprobe "$(cat /sys/bus/pci/devices/0000:00:10.1/modalias)"
  stat -c %i /sys/module/vmw_pvrdma >/run/driver-inode
  expect_equal "the port without the agent" DOWN "$(port_state 0)"
}

scenario() {
  wait_boot
  wait_until 20 "health says ready" health_is ready
  expect_equal "the port" ACTIVE "$(port_state 0)"
  expect "a finding says that the adapter is the VM's first NIC" finding first-nic
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
  expect_equal "rebinds" 0 "$(health_query .executor.rebinds)"
  expect_equal "the driver was not reloaded" "$(cat /run/driver-inode)" "$(stat -c %i /sys/module/vmw_pvrdma)"
  for module in mlx4_ib ib_umad rdma_cm rdma_ucm; do expect "$module is loaded" module_loaded $module; done
  expect "udev could rename the netdev before its link came up" test "$(netdev_of 0)" = ens16f0
  expect_equal "verbs agree with sysfs, and give the MTU" 1024 "$(health_query '.adapters[0].port.active_mtu')"
  expect_equal "no process holds a context" 0 "$(cut -d' ' -f3 <(grep ^vmw_pvrdma /proc/modules))"
  local agent network
  agent=$(systemctl show -P ActiveEnterTimestampMonotonic pvrdma-agent.service)
  network=$(systemctl show -P ActiveEnterTimestampMonotonic network-pre.target)
  expect "the agent was up before network-pre.target ($agent us, $network us)" test "$agent" -le "$network"
  systemctl status --no-pager pvrdma-agent.service | tee status.txt
  expect "systemctl status shows the state" grep -q 'Status: "ready: 1 of 1 adapters ready"' status.txt
  printf '[Service]\nExecStart=/bin/true\nNoSuchKey=1\n' >/run/pvrdma-lab.service
  systemd-analyze verify --man=no /lib/systemd/system/pvrdma-* /run/pvrdma-lab.service >verified 2>&1 || true
  expect "systemd names a line that it does not know" grep NoSuchKey verified
  sed -i /pvrdma-lab/d verified
  expect_not "this systemd knows each line of the units" grep pvrdma verified
  wait_until 40 "the executor has gone" at_rest
  pvrdma-agentctl health
  follow_guide gpu cold-boot
}
