# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a clone that is being customized: adapters come up, addresses wait for the marks of cloud-init and open-vm-tools, and nothing of the template's is ever set
# adapters: 1
# start: snapshot
# network: yes

# cloud-init and open-vm-tools are not in the guest: their marks are written here, where and as those write them
# (tests/check/templates runs the real cloud-init, and holds what it leaves against the agent's reader).

status() { # END-OF-LOCAL END-OF-NETWORK, or null
  printf '{"v1": {"datasource": null, "init-local": {"errors": [], "finished": %s, "start": 1.5}, "init": {"errors": [],
    "finished": %s, "start": null}, "stage": "init"}}\n' "$1" "$2" >/run/cloud-init/status.json
}
address() { printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\nmanage = "agent"\naddresses = ["%s/24"]\n' "$1"; }
waits_for() { finding customization-awaited | gojq -er .summary | grep -F -e "$1"; }

# The template's address, and cloud-init about to run.
early() {
  address 192.168.30.200 | agent_config
  mkdir -p /run/cloud-init
  : >/run/cloud-init/enabled
  # Not with the port on which the host answers, of which there is one.
  ip monitor address >/run/lab/addresses 2>&1 9>&- &
}

scenario() {
  wait_boot
  wait_until 60 "the port is ACTIVE" port_is 0 ACTIVE
  wait_until 20 "the local stage is waited for" waits_for "cloud-init's local stage"
  expect_equal "and the state says so" converging "$(health_state)"
  expect "the boot did not wait" unit_active network-pre.target
  pvrdma-agentctl health || true

  status 2.5 null
  wait_until 20 "then the network stage" waits_for "cloud-init's network stage"
  holds_for 4 "without an address" has_no_ipv4 ens16f0 192.168.30.
  # As its write_files would; nobody tells the agent.
  address 192.168.30.201 | agent_config
  status 2.5 3.5
  wait_until 20 "it has ended: the address that it configured" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 20 "health says ready" health_is ready
  expect_not "the template's was never set" grep -F 192.168.30.200 addresses

  : >/var/log/.vmware-deploy.INPROGRESS
  address 192.168.30.202 | agent_config
  systemctl reload pvrdma-agent.service
  wait_until 20 "open-vm-tools is waited for" waits_for open-vm-tools
  holds_for 4 "with the address it had" has_ipv4 ens16f0 192.168.30.201/24
  mv /var/log/.vmware-deploy.INPROGRESS /var/log/.vmware-deploy.Done
  wait_until 20 "it has ended: the new address" has_ipv4 ens16f0 192.168.30.202/24
  wait_until 20 "health says ready" health_is ready
  expect_equal "no findings" "[]" "$(health_query -c .findings)"
}
