# SPDX-License-Identifier: GPL-2.0-or-later
# summary: reload = "always": the driver is reloaded once per boot, as in the field's recipe, however often the agent starts
# adapters: 1
# start: snapshot

early() {
  mkdir -p /etc/pvrdma-agent
  printf '[modules]\nreload = "always"\n' >/etc/pvrdma-agent/pvrdma-agent.toml
  modprobe vmxnet3
  modprobe vmw_pvrdma
}

scenario() {
  wait_until 60 "the driver is reloaded" reloads_are 1
  wait_until 30 "health says ready" health_is ready
  expect_equal "vmw_pvrdma was loaded last of the recipe's modules" vmw_pvrdma \
    "$(grep -oE '^(vmxnet3|mlx4_ib|ib_umad|rdma_cm|rdma_ucm|vmw_pvrdma) ' /proc/modules | head -1 | tr -d ' ')"
  systemctl restart pvrdma-agent.service
  wait_until 20 "ready after a restart" health_is ready
  systemctl kill -s KILL pvrdma-agent.service
  wait_until 20 "ready after a crash" health_is ready
  holds_for 5 "there is still one reload" reloads_are 1
}
