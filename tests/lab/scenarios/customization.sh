# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a clone that is being customized: adapters come up, addresses wait for the marks of cloud-init and open-vm-tools, and the template's address is never set
# adapters: 1
# start: snapshot
# network: yes

# cloud-init and open-vm-tools are not in the guest: the scenario writes the same marks in the same places
# (tests/check/templates runs the real cloud-init, and lets the agent's reader read its marks).

status() { # END-OF-LOCAL END-OF-NETWORK, or null
  printf '{"v1": {"datasource": null, "init-local": {"errors": [], "finished": %s, "start": 1.5}, "init": {"errors": [],
    "finished": %s, "start": null}, "stage": "init"}}\n' "$1" "$2" >/run/cloud-init/status.json
}
address() { printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\nmanage = "agent"\naddresses = ["%s/24"]\n' "$1"; }
waits_for() { finding customization-awaited | gojq -er .summary | grep -F -e "$1"; }

# The template's address is configured, and cloud-init is about to run.
early() {
  address 192.168.30.200 | agent_config
  mkdir -p /run/cloud-init
  : >/run/cloud-init/enabled
  # Descriptor 9, the port to the host, is closed, as only one process can have it open.
  ip monitor address >/run/lab/addresses 2>&1 9>&- &
}

scenario() {
  wait_boot
  wait_until 60 "the port is ACTIVE" port_is 0 ACTIVE
  wait_until 20 "the agent waits for the local stage" waits_for "cloud-init's local stage"
  expect_equal "the state is converging meanwhile" converging "$(health_state)"
  wait_until 5 "the agent has started, which is all that network-pre.target waits for at a boot" unit_active pvrdma-agent.service
  pvrdma-agentctl health || true

  status 2.5 null
  wait_until 20 "then the agent waits for the network stage" waits_for "cloud-init's network stage"
  holds_for 4 "no address is set meanwhile" has_no_ipv4 ens16f0 192.168.30.
  # Writes the file as write_files would; the agent gets no signal.
  address 192.168.30.201 | agent_config
  status 2.5 3.5
  wait_until 20 "cloud-init has ended: its address is set" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 20 "health says ready" health_is ready
  expect "the clone's address was noted" grep -F 192.168.30.201 addresses
  expect_not "the template's address was never set" grep -F 192.168.30.200 addresses

  : >/var/log/.vmware-deploy.INPROGRESS
  address 192.168.30.202 | agent_config
  systemctl reload pvrdma-agent.service
  wait_until 20 "the agent waits for open-vm-tools" waits_for open-vm-tools
  holds_for 4 "the earlier address stays meanwhile" has_ipv4 ens16f0 192.168.30.201/24
  mv /var/log/.vmware-deploy.INPROGRESS /var/log/.vmware-deploy.Done
  wait_until 20 "open-vm-tools has ended: the new address is set" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 20 "health says ready" health_is ready
  expect_equal "no findings" "[]" "$(health_query -c .findings)"
}
