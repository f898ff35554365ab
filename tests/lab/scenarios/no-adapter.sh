# SPDX-License-Identifier: GPL-2.0-or-later
# summary: no adapter: absent, quiet, exit 0; no module is loaded
# adapters: 0
# nics: 1
# start: snapshot

scenario() {
  wait_boot
  wait_until 20 "health says absent" health_is absent
  expect "exit status 0" pvrdma-agentctl health
  expect_equal "findings" 0 "$(health_query '.findings | length')"
  expect_not "no RDMA module was loaded for it" module_loaded vmw_pvrdma
  expect_not "mlx4_ib was not loaded for it" module_loaded mlx4_ib
  expect "the service is active" systemctl is-active pvrdma-agent.service
  expect_equal "lines of the agent in the journal" 0 "$(journalctl -b _COMM=pvrdma-agent -o cat --no-pager | grep -vc -- '-- No entries' || true)"
  systemctl start pvrdma-online.target
  expect "the target is reached" unit_active pvrdma-online.target
  expect_equal "the service that waits has ended well" success "$(systemctl show -P Result pvrdma-agent-wait-online.service)"
  expect "wait returns at once" timeout 10 pvrdma-agentctl wait --timeout 5s
  # For the agent this is no fault. doctor says that RDMA is not usable here, and who can change that.
  local status=0
  pvrdma-agentctl doctor --json >doctor.json || status=$?
  expect_equal "doctor's exit status" 2 "$status"
  expect_equal "the finding and who has to act: this is no VM of vSphere" "no-rdma-function guest" \
    "$(gojq -r '"\(.findings[0].id) \(.next_move)"' doctor.json)"
  expect_equal "no check of an adapter is good" "" \
    "$(gojq -r '.checks[] | select(.verdict == "good" and (.area | IN("adapters", "devices", "ports", "links"))) | .area' doctor.json)"
  expect "health names readiness.adapters" sh -c 'pvrdma-agentctl health | grep -q readiness.adapters'
  pvrdma-agentctl doctor --host-admin || true
  expect_not "doctor has loaded no module" module_loaded vmw_pvrdma
  # Of the lab itself: an agent that does not answer has no verdict.
  expect "there is no such finding" no_finding boot-script
  systemctl stop pvrdma-agent.service
  expect_not "without an answer this is not known" no_finding boot-script
}
