# SPDX-License-Identifier: GPL-2.0-or-later
# summary: rpm: install, upgrade and removal change no module, link or address and disturb no job; removal leaves nothing behind
# suite: dracut
# adapters: 1
# loaders: yes
# install: manual
# timeout: 300

# shellcheck source=tests/lab/guest/packages.sh
. /run/lab/packages.sh

# rpm never removes a user, and useradd makes backups of the files that it changes.
files() {
  paths_without /var/lib/rpm '/etc/*-'
  systemctl list-unit-files --no-legend '*pvrdma*' || true
}
# Runs a transaction: each of these scripts runs and succeeds, without a warning.
transaction() { # DESCRIPTION SCRIPTS RPM-OPTION…
  local what=$1 scripts=$2
  shift 2
  rpm -vv "$@" >said 2>&1 || { cat said; die "$what: rpm $*"; }
  grep -E '^\+|waitpid' said
  expect_equal "$what: the scripts" "$scripts" "$(sed -n 's/^D: %\([a-z]*\)(pvrdma-agent.*: waitpid.* status 0$/\1/p' said | xargs)"
  expect_not "$what: no script fails or complains" grep -E 'waitpid.* status [^0]|scriptlet failed|Failed|Warning' said
}
agent_is_new() { [[ $(agent_pid) != "$1" && $(agent_pid) != 0 ]]; } # THE OLD PID
socket_inode() { stat -c %i /run/pvrdma-agent-executor/io.pvrdma.Executor; }
executor_pid() { main_pid pvrdma-agent-executor.service; }

scenario() {
  wait_boot
  rpm -i system/*.rpm
  files >files.before
  transaction "installed" "prein post posttrans" -i rpms/*.rpm
  expect "the installed files are those of the package" rpm -V --nodeps pvrdma-agent
  expect_equal "enabled for the next boot" 3 \
    "$(systemctl is-enabled pvrdma-agent.service pvrdma-agent-executor.socket pvrdma-agent-wait-online.service | grep -cx enabled)"
  expect "units for other programs are off" integrations_are_off
  expect "journalctl -x explains the agent's messages" sh -c 'journalctl --list-catalog | grep -q pvrdma-agent'
  expect "sos has its plugin" sh -c 'PYTHONDONTWRITEBYTECODE=1 sos report --list-plugins | grep pvrdma_agent'
  python3 -m py_compile /usr/lib/python3.9/site-packages/sos/report/plugins/pvrdma_agent.py # as sos without that variable
  expect_equal "no service has been started" inactive "$(systemctl is-active pvrdma-agent.service)"
  systemctl start pvrdma-agent.service
  wait_until 60 "started: health says ready" health_is ready

  wait_until 20 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  ip addr add 192.168.30.201/24 dev ens16f0
  kernel_state >before
  start_job 0
  # An executor in the middle of an operation; it does not answer, and a stop would end it.
  systemctl start pvrdma-agent-executor.service
  local agent executor socket
  agent=$(agent_pid) executor=$(executor_pid) socket=$(socket_inode)
  kill -STOP "$executor"
  # An image that has to be made anew. This dracut makes none, but notes which agent runs meanwhile.
  touch "/boot/initrd.img-$(uname -r)"
  printf '#!/bin/sh\nsystemctl show -P MainPID pvrdma-agent.service >>%q\nexit 1\n' "$PWD/beside-dracut" >dracut
  chmod 755 dracut
  mount --bind dracut "$(readlink -f "$(command -v dracut)")"
  transaction "upgraded" "prein post preun postun posttrans" -U next/*.rpm
  expect_equal "the package" "$(rpm -qp next/pvrdma-agent-*.rpm)" "$(rpm -q pvrdma-agent)"
  wait_until 30 "the agent is restarted" agent_is_new "$agent"
  expect_equal "the agent was restarted once, before dracut ran" "$(agent_pid)" "$(cat beside-dracut)"
  umount "$(readlink -f "$(command -v dracut)")"
  rm "/boot/initrd.img-$(uname -r)"
  expect_equal "the executor is left alone" "$executor" "$(executor_pid)"
  kill -CONT "$executor"
  expect_equal "the executor's socket stays open" "$socket" "$(socket_inode)"
  wait_until 30 "upgraded: health says ready" health_is ready
  expect "the upgrade has changed no module, link or address" diff before <(kernel_state)

  systemctl start pvrdma-agent-executor.service pvrdma-agent-metrics.service pvrdma-agent-report.service
  systemctl start pvrdma-agent-wait-online.service
  printf '[Unit]\n%s\n[Service]\nExecStart=/bin/sleep infinity\n' \
    "$(grep -E '^(Requires|After)=' /usr/share/doc/pvrdma-agent/examples/mpi-job.service)" >/run/systemd/system/lab-job.service
  systemctl start lab-job.service
  transaction "removed" "preun postun" -e pvrdma-agent
  expect "a unit that requires ready adapters goes on" systemctl is-active lab-job.service
  systemctl stop lab-job.service pvrdma-agent-wait-online.service
  rm /run/systemd/system/lab-job.service
  expect "the removal has changed no module, link or address" diff before <(kernel_state)
  expect "the job goes on" kill -0 "$job"
  expect_equal "the job has seen no event" 0 "$(grep -c event_type events || true)"
  kill "$job"
  integrations_have_gone
  expect_not "no process is left" pgrep -f 'pvrdma-agent([^c]|$)' # The scenario itself watches health by pvrdma-agentctl.
  expect_not "the catalog's index has no entry of the agent" sh -c 'journalctl --list-catalog | grep -q pvrdma-agent'
  files >files.after
  expect "nothing is left behind" diff files.before files.after
  expect "the user stays, as rpm never removes one" getent passwd pvrdma-agent

  systemctl mask pvrdma-agent.service
  rpm -i rpms/*.rpm
  expect_equal "a masked unit keeps no other unit from being enabled" 2 \
    "$(systemctl is-enabled pvrdma-agent-executor.socket pvrdma-agent-wait-online.service | grep -cx enabled)"
}
