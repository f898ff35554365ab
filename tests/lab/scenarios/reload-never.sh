# SPDX-License-Identifier: GPL-2.0-or-later
# summary: reload = "never": the agent stops before the reload, and says so
# adapters: 1
# start: snapshot
# port: DOWN

early() {
  mkdir -p /etc/pvrdma-agent
  printf '[modules]\nreload = "never"\n' >/etc/pvrdma-agent/pvrdma-agent.toml
  modprobe vmxnet3
  modprobe vmw_pvrdma
  stat -c %i /sys/module/vmw_pvrdma >/run/driver-inode
}

same_driver() { [[ $(cat /run/driver-inode) == "$(stat -c %i /sys/module/vmw_pvrdma)" ]]; }

scenario() {
  wait_until 60 "a finding says that a reload is due but forbidden" finding reload-forbidden
  expect_not "the administrator's reload is refused too" pvrdma-agentctl reload
  holds_for 10 "the driver is not reloaded" same_driver
  host port 0 ACTIVE
  wait_until 45 "health says ready" health_is ready
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
}
