# SPDX-License-Identifier: GPL-2.0-or-later
# summary: install, upgrade, downgrade, remove, purge and reinstall beside a job and its traffic: they never notice, and nothing else changes
# adapters: 1
# loaders: yes
# network: yes
# install: manual
# previous: yes
# timeout: 900

files() {
  paths_without /var/lib/dpkg
  getent passwd
}

version() { dpkg-query -W -f '${Version}' pvrdma-agent; }
version_in() { dpkg-deb -f "$1"/pvrdma-agent_*.deb Version; }     # FOLDER
runs_what_is_installed() { [[ $(readlink "/proc/$(agent_pid)/exe") == "$(readlink -f /usr/sbin/pvrdma-agent)" ]]; }
# Nobody is there to answer a question: standard input is empty.
install_from() { # FOLDER WORD
  dpkg -i "$1"/*.deb
  expect_equal "$2: the version" "$(version_in "$1")" "$(version)"
  wait_until 30 "$2: the agent runs" unit_is pvrdma-agent.service active
  expect "$2: and is the one installed" runs_what_is_installed
  wait_until 30 "$2: health says ready" health_is ready
  nothing_happened "$2"
}
nothing_happened() { # WORD
  expect "$1: the kernel's state is as before" diff before <(kernel_state)
  expect_equal "$1: the job has seen nothing" 0 "$(grep -c event_type events || true)"
  expect "$1: the job goes on" kill -0 "$job"
  traffic_goes_on
}
# What an administrator has changed of the package's is kept by every upgrade.
administrators() {
  agent_config <<'TOML'
# mine
[[adapter]]
match     = { netdev = "ens16f0" }
addresses = ["192.168.30.201/24"]
TOML
  mkdir -p /etc/systemd/system/pvrdma-agent.service.d
  printf '[Service]\nNice=-5\n' >/etc/systemd/system/pvrdma-agent.service.d/mine.conf
  systemctl daemon-reload
  find /etc/pvrdma-agent /etc/systemd/system/pvrdma-agent.service.d -type f -exec sha256sum {} + >mine
}
still_the_administrators() { # WORD
  expect "$1: the administrator's files are as they were" sha256sum --check --quiet mine
  expect_equal "$1: and in force" -5 "$(systemctl show -P Nice pvrdma-agent.service)"
}
without_timelines() {
  gone /var/lib/pvrdma-agent/boots && gone /run/pvrdma-agent/boot.json && gone /run/pvrdma-agent/keep-boot.json &&
    [[ -z $(systemctl list-units --all --no-legend 'pvrdma-agent-boots.*') ]]
}
# The previous version took guestinfo's configuration unasked, and had the executor's socket in another directory.
moved_by_upgrade() {
  printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.211/24"]\n' | guestinfo
  systemctl restart pvrdma-agent.service
  wait_until 20 "previous: an address from guestinfo" has_ipv4 ens16f0 192.168.30.211/24
  dpkg -i debs/*.deb
  wait_until 30 "upgrade: health tells how to go on with guestinfo" sh -c 'pvrdma-agentctl health | grep -F guestinfo.enabled'
  expect "upgrade: the address stays until then" has_ipv4 ens16f0 192.168.30.211/24
  expect_equal "upgrade: the executor's socket has moved" "600 pvrdma-agent" \
    "$(stat -c '%a %U' /run/pvrdma-agent-executor/io.pvrdma.Executor)"
  expect "upgrade: and nothing is left of the old one" gone /run/pvrdma-agent/io.pvrdma.Executor
  expect "upgrade: nor of the files and units for timelines" without_timelines
  expect_equal "upgrade: a new unit is enabled" enabled "$(systemctl is-enabled pvrdma-agent-wait-online.service)"
  rm /run/vmx/guestinfo.pvrdma-agent.config
  # The previous version, which comes back below, would take it away: nothing of that is to be seen there.
  ip address delete 192.168.30.211/24 dev ens16f0
}

scenario() {
  wait_boot
  guestinfo_standin
  # dpkg's first use makes files of its own (diversions, backups of passwd): let it.
  files >files.before
  expect "the previous version is lower: $(version_in previous), $(version_in debs)" \
    dpkg --compare-versions "$(version_in previous)" lt "$(version_in debs)"
  dpkg -i previous/*.deb
  wait_until 60 "installed: health says ready" health_is ready
  moved_by_upgrade
  expect "enabled for the next boot" systemctl is-enabled pvrdma-agent.service
  expect_equal "it has no configuration files of dpkg's" "" "$(dpkg-query -W -f '${Conffiles}' pvrdma-agent)"
  administrators
  systemctl reload pvrdma-agent.service
  wait_until 20 "the address" has_ipv4 ens16f0 192.168.30.201/24
  wait_until 20 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  wait_until 20 "the address has its GID" sh -c 'pvrdma-agentctl env >env && grep -q GID_INDEX env'
  start_job 0
  # shellcheck source=/dev/null
  . ./env
  pingpong -d "$(rdma_of 0)" -g "$NCCL_IB_GID_INDEX" &
  traffic=$!
  wait_until 30 "traffic" more_rounds 0
  kernel_state >before

  install_from previous downgrade
  still_the_administrators downgrade
  expect "downgrade: the socket is back" test -S /run/pvrdma-agent/io.pvrdma.Executor
  systemctl disable pvrdma-agent.service
  install_from debs "upgrade again"
  still_the_administrators "upgrade again"
  expect_equal "what was disabled stays disabled" disabled "$(systemctl is-enabled pvrdma-agent.service || true)"
  systemctl enable pvrdma-agent.service
  wait_until 10 "its messages are explained" sh -c 'journalctl -x -u pvrdma-agent | grep -q "man:pvrdma-agentctl(1)"'
  expect "what is for others' programs is off" integrations_are_off
  systemctl enable --now pvrdma-agent-metrics.service
  systemctl start pvrdma-agent-report.service
  local metrics
  metrics=$(main_pid pvrdma-agent-metrics.service)
  install_from debs "same again"
  expect "same again: of what is off, what ran has been restarted" unit_active pvrdma-agent-metrics.service
  expect_not "same again: it is another process" [ "$metrics" = "$(main_pid pvrdma-agent-metrics.service)" ]
  dpkg -r pvrdma-agent
  integrations_have_gone
  expect_not "remove: the service is gone" unit_active pvrdma-agent.service
  nothing_happened remove
  install_from debs "install again"
  still_the_administrators "install again"
  expect "install again: what was enabled runs" unit_active pvrdma-agent-metrics.service
  dpkg -P pvrdma-agent
  expect_not "the catalog's index forgets them" sh -c 'journalctl --list-catalog | grep -q pvrdma-agent'
  nothing_happened purge
  expect "purge: the administrator's files are as they were" sha256sum --check --quiet mine
  # Not the package's; the address goes by them, so they are needed again.
  mkdir /tmp/administrators
  mv /etc/pvrdma-agent /etc/systemd/system/pvrdma-agent.service.d /tmp/administrators/
  files >files.after
  expect "purge leaves nothing behind" diff files.before files.after
  mv /tmp/administrators/pvrdma-agent /etc/
  mv /tmp/administrators/pvrdma-agent.service.d /etc/systemd/system/
  install_from debs "install after purge"
  expect "enabled for the next boot" systemctl is-enabled pvrdma-agent.service

  kill "$traffic" "$job"
  echo "$(rounds) rounds of traffic"
}
