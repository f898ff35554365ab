# SPDX-License-Identifier: GPL-2.0-or-later
# summary: install, upgrade, downgrade, remove, purge and reinstall beside a job and its traffic: the job is not disturbed, and nothing else changes
# adapters: 1
# start: snapshot
# loaders: yes
# network: yes
# install: manual
# previous: yes
# timeout: 900

# shellcheck source=tests/lab/guest/packages.sh
. /run/lab/packages.sh

files() {
  paths_without /var/lib/dpkg
  getent passwd
}

version() { dpkg-query -W -f '${Version}' pvrdma-agent; }
version_in() { dpkg-deb -f "$1"/pvrdma-agent_*.deb Version; }     # FOLDER
runs_what_is_installed() { [[ $(readlink "/proc/$(agent_pid)/exe") == "$(readlink -f /usr/sbin/pvrdma-agent)" ]]; }
# Standard input is empty, so no question can be answered.
install_from() { # FOLDER WORD
  dpkg -i "$1"/*.deb
  expect_equal "$2: the version" "$(version_in "$1")" "$(version)"
  wait_until 30 "$2: the agent runs" unit_is pvrdma-agent.service active
  expect "$2: the installed program runs" runs_what_is_installed
  wait_until 30 "$2: health says ready" health_is ready
  nothing_happened "$2"
}
nothing_happened() { # WORD
  expect "$1: the kernel's state is as before" diff before <(kernel_state)
  expect_equal "$1: the job has seen no event" 0 "$(grep -c event_type events || true)"
  expect "$1: the job goes on" kill -0 "$job"
  traffic_goes_on
}
# Every upgrade keeps the administrator's changes to the package's units and files.
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
  expect "$1: the administrator's files are unchanged" sha256sum --check --quiet mine
  expect_equal "$1: the administrator's drop-in is in use" -5 "$(systemctl show -P Nice pvrdma-agent.service)"
}
# A chroot in which an image is made may have the host's /run and /sys. This one is a copy of the system that is thrown away.
purge_in_chroot() {
  unshare --mount bash -euc '
    mount -t tmpfs none /mnt
    mkdir /mnt/{upper,work,root}
    mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
    for folder in dev proc run sys; do mount --rbind "/$folder" "/mnt/root/$folder"; done
    chroot /mnt/root dpkg -P pvrdma-agent
    [ ! -e /mnt/root/usr/sbin/pvrdma-agent ]'
  expect "chroot: the socket of the agent outside is still there" test -S /run/pvrdma-agent/io.pvrdma.Agent
  wait_until 30 "chroot: health says ready" health_is ready
  nothing_happened chroot
}
without_timelines() {
  gone /var/lib/pvrdma-agent/boots && gone /run/pvrdma-agent/boot.json && gone /run/pvrdma-agent/keep-boot.json &&
    [[ -z $(systemctl list-units --all --no-legend 'pvrdma-agent-boots.*') ]]
}
# The previous version used guestinfo's configuration by default, and had the executor's socket in another directory.
# Of this version, with a lower number (labkit/previous.py).
previous_is_repacked() { [[ $(version_in previous) == *~repacked ]]; }
moved_by_upgrade() {
  printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.211/24"]\n' | guestinfo
  systemctl restart pvrdma-agent.service
  wait_until 20 "previous: an address from guestinfo" has_ipv4 ens16f0 192.168.30.211/24
  dpkg -i debs/*.deb
  wait_until 30 "upgrade: health says how to go on using guestinfo" sh -c 'pvrdma-agentctl health | grep -F guestinfo.enabled'
  expect "upgrade: the address stays until then" has_ipv4 ens16f0 192.168.30.211/24
  expect_equal "upgrade: the executor's socket has moved" "600 pvrdma-agent" \
    "$(stat -c '%a %U' /run/pvrdma-agent-executor/io.pvrdma.Executor)"
  expect "upgrade: the old socket is gone" gone /run/pvrdma-agent/io.pvrdma.Executor
  expect "upgrade: files and units for timelines are gone" without_timelines
  expect_equal "upgrade: a new unit is enabled" enabled "$(systemctl is-enabled pvrdma-agent-wait-online.service)"
  rm /run/vmx/guestinfo.pvrdma-agent.config
  # The previous version, which comes back below, would remove the address; that test must not see this.
  ip address delete 192.168.30.211/24 dev ens16f0
}

scenario() {
  wait_boot
  guestinfo_standin
  # The first use of dpkg makes files of its own (diversions, backups of passwd), so it is used once before.
  files >files.before
  expect "the previous version is lower: $(version_in previous), $(version_in debs)" \
    dpkg --compare-versions "$(version_in previous)" lt "$(version_in debs)"
  dpkg -i previous/*.deb
  wait_until 60 "installed: health says ready" health_is ready
  if previous_is_repacked; then dpkg -i debs/*.deb; else moved_by_upgrade; fi
  expect "enabled for the next boot" systemctl is-enabled pvrdma-agent.service
  expect_equal "the package has no conffiles" "" "$(dpkg-query -W -f '${Conffiles}' pvrdma-agent)"
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
  modprobe overlay # purge_in_chroot mounts one
  kernel_state >before

  install_from previous downgrade
  still_the_administrators downgrade
  previous_is_repacked || expect "downgrade: the socket is back" test -S /run/pvrdma-agent/io.pvrdma.Executor
  systemctl disable pvrdma-agent.service
  install_from debs "upgrade again"
  still_the_administrators "upgrade again"
  expect_equal "the disabled unit stays disabled" disabled "$(systemctl is-enabled pvrdma-agent.service || true)"
  systemctl enable pvrdma-agent.service
  wait_until 10 "journalctl -x explains the agent's messages" sh -c 'journalctl -x -u pvrdma-agent | grep -q "man:pvrdma-agentctl(1)"'
  expect "units for other programs are off" integrations_are_off
  systemctl enable --now pvrdma-agent-metrics.service pvrdma-agent-report.socket
  systemctl start pvrdma-agent-report.service
  local metrics
  metrics=$(main_pid pvrdma-agent-metrics.service)
  install_from debs "same again"
  expect "same again: an optional service that ran has been restarted" unit_active pvrdma-agent-metrics.service
  expect_not "same again: the service is another process" [ "$metrics" = "$(main_pid pvrdma-agent-metrics.service)" ]
  purge_in_chroot
  dpkg -r pvrdma-agent
  integrations_have_gone
  expect_not "remove: the service is gone" unit_active pvrdma-agent.service
  nothing_happened remove
  install_from debs "install again"
  still_the_administrators "install again"
  expect "install again: the enabled service runs" unit_active pvrdma-agent-metrics.service
  expect "install again: the enabled socket listens" unit_active pvrdma-agent-report.socket
  dpkg -P pvrdma-agent
  expect_not "the catalog's index has no entry of the agent" sh -c 'journalctl --list-catalog | grep -q pvrdma-agent'
  nothing_happened purge
  expect "purge: the administrator's files are unchanged" sha256sum --check --quiet mine
  # These files are not the package's. They set the address, so they are needed again.
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
