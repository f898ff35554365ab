# SPDX-License-Identifier: GPL-2.0-or-later
# summary: sos: a real sos report has the agent's part, and sos clean masks its addresses
# adapters: 1
# start: snapshot
# network: yes
# timeout: 600

# Its messages are printed only if it fails.
quietly() { "$@" >said 2>&1 || { tail -n 20 said; die "$*"; }; }
unpacked() { # ARCHIVE FOLDER
  mkdir "$2"
  tar -C "$2" --strip-components=1 -xzf "$1"
}

scenario() {
  local part archive mac
  printf '[[adapter]]\nmatch = { pci = "0000:00:10.1" }\naddresses = ["192.168.30.201/24"]\n' | agent_config
  systemctl restart pvrdma-agent.service
  wait_boot
  wait_until 60 "ready" health_is ready
  wait_until 30 "the address is set" has_ipv4 "$(netdev_of 0)" 192.168.30.201

  mkdir made
  quietly sos report --batch --only-plugins pvrdma_agent --compression-type gzip --tmp-dir "$PWD/made"
  archive=$(echo made/*.tar.gz)
  unpacked "$archive" report
  part=report/sos_commands/pvrdma_agent
  ls "$part"
  expect "the agent's document" gojq -e '.health.state == "ready" and .doctor != null' "$part/pvrdma-agentctl_report"
  expect "health" gojq -e '.state == "ready"' "$part/pvrdma-agentctl_health_--json"
  expect "the report has the history of boots" grep 'start of the agent' "$part/pvrdma-agentctl_boots"
  expect "the service's status" grep 'Active: active' "$part/systemctl_status_pvrdma-agent.service"
  expect "the units' journal" grep 'ready: 1 of 1' "$part"/journalctl_*
  expect "the configuration" cmp /etc/pvrdma-agent/pvrdma-agent.toml report/etc/pvrdma-agent/pvrdma-agent.toml
  mac=$(cat "/sys/class/net/$(netdev_of 0)/address")
  expect "the report has addresses" grep -rqF 192.168.30.201 report
  expect "the report has MACs" grep -rqiF "$mac" report

  quietly sos clean --batch --no-update --tmp-dir "$PWD/made" "$archive"
  unpacked "$(echo made/*obfuscated*.tar.gz)" masked
  expect "the masked document is valid" gojq -e '.health.state == "ready"' "masked/sos_commands/pvrdma_agent/pvrdma-agentctl_report"
  expect_not "no address is left" grep -rF 192.168.30.201 masked
  # Debian 12's sos, 4.0, finds no MAC in quotes, in which JSON has them.
  [[ $(dpkg-query -W -f '${Version}' sosreport) == 4.0* ]] || expect_not "no MAC is left" grep -riF "$mac" masked
}
