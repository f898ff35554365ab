# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the executor's load of the driver hangs, the install command of another module hangs, the executor's socket is masked, or a program of a crontab is on a file system that does not answer: health answers as fast as before, and names the cause
# adapters: 1
# start: snapshot
# timeout: 400

# Asks 50 times, each on a connection of its own; prints the slowest answer in ms, the call under way, and whether it is stuck.
write_ask() {
cat >ask.py <<'P'
import json, socket, sys, time
worst, busy = 0, None
for _ in range(50):
    s = socket.socket(socket.AF_UNIX); s.connect("/run/pvrdma-agent/io.pvrdma.Agent")
    t = time.monotonic(); s.sendall(b'{"method":"io.pvrdma.Agent.GetHealth"}\0'); b = b""
    while not b.endswith(b"\0"): b += s.recv(65536)
    worst = max(worst, time.monotonic() - t); busy = json.loads(b[:-1])["parameters"]["health"]["executor"]["busy"]
    s.close()
print(f"{worst * 1000:.0f} {busy['call'] if busy else '-'} {busy['stuck'] if busy else '-'}")
P
}

# An answer may take 100 ms, or on a busy machine some times as long as the slowest before.
at_most_ms() { # ANSWER BEFORE
  awk -v before="${2%% *}" '{ limit = before * 4 > 100 ? before * 4 : 100; exit !($1 <= limit) }' <<<"$1"
}
stuck() { health_query .executor.busy.stuck | grep -qx true; }

masked() {
  systemctl mask --now pvrdma-agent-executor.socket
  systemctl stop pvrdma-agent-executor.service
  modprobe -r vmw_pvrdma
  wait_until 20 "the executor's socket is masked: a finding says so" finding executor-missing
  wait_until 10 "the state is failed" health_is failed
  wait_until 10 "the journal says that the executor cannot be asked" journal_has 'the executor cannot be asked'
  systemctl unmask pvrdma-agent-executor.socket
  systemctl start pvrdma-agent-executor.socket
  wait_until 60 "the socket is started again: ready" health_is ready
  expect "the journal says so once" [ "$(agent_journal -o cat | grep -c 'the executor cannot be asked')" = 1 ]
}

# systemd mounts a file system of the crontab's program on the first use, and that never ends, as with a server that is away.
file_system_hangs() {
  printf '#!/bin/sh\nexec sleep infinity\n' >/usr/sbin/mount.hanging
  chmod 755 /usr/sbin/mount.hanging
  printf '[Mount]\nWhat=none\nWhere=/shared\nType=hanging\nTimeoutSec=infinity\n' >/run/systemd/system/shared.mount
  printf '[Automount]\nWhere=/shared\n' >/run/systemd/system/shared.automount
  systemctl daemon-reload
  systemctl start shared.automount
  mkdir -p /etc/cron.d
  echo '*/5 * * * * root /shared/tools/check.sh' >/etc/cron.d/site
  ip link set ens16f0 down
  wait_until 30 "a file system hangs: a link that goes down is brought up" netdev_up 0
  wait_until 30 "health says ready" health_is ready
  expect_equal "the agent has used that file system" activating "$(systemctl show -P ActiveState shared.mount)"
  pvrdma-agentctl reload >said 2>&1 || true
  expect "no reload meanwhile" grep -F "it is not known whether a script of this machine does that itself" said
  systemctl stop shared.automount shared.mount
  rm /etc/cron.d/site
  wait_until 60 "the file system is gone: a reload is carried out" pvrdma-agentctl reload
}

# The command of a module that precedes the driver never ends.
install_command_hangs() {
  local module
  systemctl stop pvrdma-agent.service
  for module in vmw_pvrdma ib_umad; do modprobe -r "$module"; done
  expect_not "an install command hangs: the driver is not loaded" module_loaded vmw_pvrdma
  echo 'install ib_umad /usr/bin/sleep infinity; /sbin/modprobe --ignore-install ib_umad' >/etc/modprobe.d/hanging.conf
  systemctl start pvrdma-agent.service
  wait_until 60 "an install command hangs: the driver is loaded all the same" module_live vmw_pvrdma
  wait_until 30 "a finding names the module" \
    sh -c "pvrdma-agentctl --json health | gojq -e '.findings[] | select(.id == \"action-failed\") | .summary | contains(\"LoadModule ib_umad\")'"
  wait_until 60 "the port is ACTIVE" port_is 0 ACTIVE
  expect_not "no call is stuck" stuck
  holds_for 20 "the executor runs on while the command does" systemctl is-active pvrdma-agent-executor.service
  rm /etc/modprobe.d/hanging.conf
  systemctl stop pvrdma-agent-executor.service
  expect_equal "the executor ends well while the command hangs" success "$(systemctl show -P Result pvrdma-agent-executor.service)"
  ip link set ens16f0 down # a change, after which all tries are due again
  wait_until 60 "the command is gone: ib_umad is loaded" module_live ib_umad
  wait_until 60 "health says ready" health_is ready
}

scenario() {
  write_ask
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "the executor is at rest" at_rest
  local before answer
  before=$(python3 ask.py)
  systemctl start pvrdma-agent-executor.service
  kill -STOP "$(main_pid pvrdma-agent-executor.service)"
  modprobe -r vmw_pvrdma
  wait_until 20 "a call is under way" sh -c 'pvrdma-agentctl --json health | gojq -e .executor.busy.call'
  answer=$(python3 ask.py)
  expect "50 answers, none slow: $answer; before: $before" at_most_ms "$answer" "$before"
  expect "health names the call" [ "$(awk '{ print $2, $3 }' <<<"$answer")" = "LoadModule vmw_pvrdma" ]
  wait_until 40 "health says that the call is stuck" stuck
  expect "a finding says so" finding executor-stuck
  wait_until 10 "the journal says so" journal_has 'The executor has not answered LoadModule'
  expect "the journal says so once" [ "$(agent_journal -o cat | grep -c 'The executor has not answered LoadModule')" = 1 ]
  answer=$(python3 ask.py)
  expect "answers are still fast: $answer" at_most_ms "$answer" "$before"
  expect "health still says that the call is stuck" [ "${answer##* }" = True ]
  kill -CONT "$(main_pid pvrdma-agent-executor.service)"
  wait_until 40 "the call returns: ready" health_is ready
  masked
  install_command_hangs
  file_system_hangs
}
