# SPDX-License-Identifier: GPL-2.0-or-later
# summary: configuration from vSphere: off by default, switched on, changed, bad (one line, nothing is undone), never modules; without open-vm-tools there is no wait
# adapters: 1
# start: snapshot
# network: yes

# QEMU has no channel for guestinfo: a stand-in for vmware-rpctool answers (lib.sh).

address_from_vsphere() { printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["%s/24"]\n' "$1"; }
asked() { [[ -e /run/vmx/asked ]]; }
fetch() { systemctl start pvrdma-agent-guestinfo.service && systemctl reload pvrdma-agent.service; }
finding_says() { finding "$1" | gojq -er .summary | grep -F -e "$2"; } # ID TEXT

scenario() {
  wait_until 60 "health says ready" health_is ready
  # The message about the skipped unit is older than the journal.
  expect "the unit's conditions were checked in this boot" test "$(systemctl show -P ConditionTimestampMonotonic pvrdma-agent-guestinfo.service)" -gt 0
  expect_equal "without VMware vSphere is not asked" no "$(systemctl show -P ConditionResult pvrdma-agent-guestinfo.service)"
  guestinfo_standin

  # Any user of a guest can write guestinfo.
  { address_from_vsphere 192.168.30.201; printf '[modules]\nbefore = ["dummy"]\n'; } | guestinfo
  systemctl restart pvrdma-agent.service
  wait_until 20 "health says ready" health_is ready
  expect_not "by default vSphere is not asked" asked
  expect_equal "the unit that asks is skipped" "exec-condition inactive" "$(systemctl show --value -p Result -p ActiveState pvrdma-agent-guestinfo.service | paste -sd ' ')"
  expect "guestinfo does not count: no address is set" has_no_ipv4 ens16f0 192.168.30.201/24
  expect_not "no module of guestinfo is loaded" module_loaded dummy
  agent_config <<<'guestinfo.enabled = true'
  systemctl reload pvrdma-agent.service
  wait_until 20 "switched on while the agent runs: a finding says how to ask vSphere" finding_says config-bad 'systemctl start pvrdma-agent-guestinfo'
  systemctl restart pvrdma-agent.service
  wait_until 20 "switched on: guestinfo may not set modules" finding_says config-bad modules
  expect_not "its modules are not loaded" module_loaded dummy
  { python3 -c 'print("x = \"\"\"x\"\"\"\"\na = " + "[" * 4000)'; } | guestinfo
  fetch
  wait_until 20 "a value that nests too deeply is one line" finding_says config-bad 'nested too deeply'
  expect "the executor still works" sh -c "pvrdma-agentctl reload | grep '^reloaded'"

  address_from_vsphere 192.168.30.201 | guestinfo
  systemctl restart pvrdma-agent.service
  wait_until 20 "asked at the agent's start: the address is set" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 20 "health says ready" health_is ready
  expect_equal "the answer of the sandboxed unit: owner, mode" "root 644" "$(stat -c '%U %a' /run/pvrdma-agent-guestinfo/answer)"
  pvrdma-agent --check-config | tee check
  expect "--check-config names it" grep -x 'guestinfo.pvrdma-agent.config: good' check

  address_from_vsphere 192.168.30.202 | base64 | guestinfo
  fetch
  wait_until 20 "changed, base64 without its label: the new address is set" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 20 "the old address is removed" has_no_ipv4 ens16f0 192.168.30.201/24

  printf '\n[readiness]\nadapters = "some"\n' | guestinfo
  systemctl restart pvrdma-agent.service
  wait_until 20 "bad: a finding has name, line, key and the allowed values" finding_says config-bad \
    'guestinfo.pvrdma-agent.config:3: readiness.adapters = "some": must be "all" or a number from 0 to 10'
  holds_for 5 "the address stays" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 10 "the journal says so" journal_has 'guestinfo.pvrdma-agent.config:3'
  expect_equal "the journal has one such line" 1 "$(agent_journal -o cat | grep -c 'guestinfo.pvrdma-agent.config:3')"
  # The exit status is that of health, which may already count the bad configuration.
  expect "the executor still reloads" sh -c "pvrdma-agentctl reload | grep '^reloaded'"
  wait_until 20 "the port is ACTIVE" port_is 0 ACTIVE
  echo gzip | guestinfo .encoding
  fetch
  wait_until 20 "an unknown encoding is a finding" finding_says config-bad 'encoding = "gzip": must be base64'

  agent_config <<<'guestinfo.enabled = false'
  systemctl reload pvrdma-agent.service
  wait_until 20 "switched off: no finding" no_finding config-bad
  wait_until 20 "the address from guestinfo is removed" has_no_ipv4 ens16f0 192.168.30.202/24
  wait_until 20 "health says ready" health_is ready
}
