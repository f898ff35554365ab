# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a removed adapter is reported until it is acknowledged, forgotten or back; another MAC in its slot is another adapter
# adapters: 2
# start: snapshot
#
# QEMU cannot plug an adapter into a running guest. But its vmxnet3 keeps a MAC that the guest has set during a removal and a
# rescan of the function, and then shows it as its own. For the guest that is another adapter in the same slot.

missed() { finding adapter-removed | gojq -r .summary; }
transitions() { health_query --arg f "$(function_of "$1")" '.adapters[] | select(.function == $f) | .transitions'; }
permanent_mac() { ip -j -d link show "$1" | gojq -r ".[0] | .permaddr // .address"; }
forget_after() { # TIME
  printf '[readiness]\nforget_removed = "%s"\n' "$1" | agent_config
  systemctl reload pvrdma-agent.service
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect "no adapter is missing" no_finding adapter-removed
  expect "the VM's first NIC is a regular one" no_finding first-nic

  remove_adapter 1
  wait_until 20 "one adapter is left" adapter_count 1
  wait_until 10 "the removed adapter is reported" finding adapter-removed
  expect "the finding has the adapter's names: $(missed)" grep -q "0000:00:11.1 (ens17f0, 00:50:56:00:00:11)" <<<"$(missed)"
  expect_not "only root may acknowledge" setpriv --reuid=65534 --regid=65534 --clear-groups pvrdma-agentctl acknowledge
  expect_not "an adapter that was not removed cannot be acknowledged" pvrdma-agentctl acknowledge ens16f0
  expect "the adapter is still reported" finding adapter-removed
  wait_until 60 "the other has its netdev again" survivor_mended 0
  rescan_pci
  wait_until 60 "the adapter is back: ready" health_is ready
  expect "no adapter is reported as missing" no_finding adapter-removed
  expect_equal "adapters in state ready" 2 "$(health_query '[.adapters[] | select(.state == "ready")] | length')"

  # A MAC that is set by hand does not make another adapter.
  ip link set ens17f0 address 00:50:56:00:00:99
  wait_until 20 "the agent has seen the new MAC" sh -c "pvrdma-agentctl health --json | grep -q 00:50:56:00:00:99"
  expect "it is the same adapter" no_finding adapter-removed
  expect "its port's changes are counted: $(transitions 1)" [ "$(transitions 1)" -gt 0 ]

  remove_adapter 1
  wait_until 20 "one adapter is left" adapter_count 1
  wait_until 60 "the other has its netdev again" survivor_mended 0
  rescan_pci
  wait_until 60 "two are ready" sh -c "pvrdma-agentctl status | grep -c ready | grep -qx 2"
  expect_equal "the permanent MAC of the new adapter" 00:50:56:00:00:99 "$(permanent_mac ens17f0)"
  expect "the former adapter is still reported: $(missed)" grep -q "00:50:56:00:00:11" <<<"$(missed)"
  expect_equal "the state is therefore" degraded "$(health_state)"
  expect "root acknowledges" pvrdma-agentctl acknowledge 00:50:56:00:00:11
  expect_equal "health says" ready "$(health_state)"

  remove_adapter 1
  wait_until 20 "removed once more: reported" finding adapter-removed
  forget_after 8s
  wait_until 20 "readiness.forget_removed ends the finding: ready" health_is ready
  expect_equal "adapters that are left" 1 "$(health_query '.adapters | length')"
  forget_after 1h
  expect "acknowledge succeeds although there is nothing left" sh -c 'pvrdma-agentctl acknowledge'
  remove_adapter 0
  wait_until 20 "the last adapter is removed: degraded, not absent" health_is degraded
  expect "acknowledged, it is" pvrdma-agentctl acknowledge
  expect_equal "health says" absent "$(health_state)"
}
