# SPDX-License-Identifier: GPL-2.0-or-later
# summary: attacks of the agent's own user on the executor and on root's tools: configuration, links, the socket, the ledger, limits, a misdirected reload
# adapters: 1
# start: snapshot
# timeout: 400

as_agent=(setpriv --reuid pvrdma-agent --regid pvrdma-agent --clear-groups)
agent() { "${as_agent[@]}" "$@"; } # COMMAND…
executor_socket=/run/pvrdma-agent-executor/io.pvrdma.Executor

# call SOCKET: makes a call for each line "VERB PARAMETERS", on a connection of its own, and prints each answer on a line.
write_call() {
  cat >/usr/local/bin/call <<'P'
import json, socket, sys
for line in sys.stdin:
    verb, parameters = line.split(" ", 1)
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    call = {"method": "io.pvrdma.Executor." + verb, "parameters": json.loads(parameters)}
    s.sendall(json.dumps(call).encode() + b"\0")
    answer = b""
    while not answer.endswith(b"\0"):
        part = s.recv(65536)
        if not part:
            break
        answer += part
    s.close()
    print(answer.rstrip(b"\0").decode(), flush=True)
P
}
executor_calls() { agent python3 /usr/local/bin/call "$executor_socket"; } # <LINES: as the agent's user
executor() { executor_calls <<<"$*"; } # VERB PARAMETERS
not_allowed() { executor "$@" | tee answer | gojq -e '.error != null and .result == null'; }
refused() { executor "$@" | tee answer | gojq -e '.error == "io.pvrdma.Executor.NotAllowed"'; }
load() { gojq -cn --arg name "$1" '{"module": $name}'; }

config=/run/pvrdma-agent-config # a folder that the agent and the executor read
configuration() {
  install -d -o pvrdma-agent "$config" "$config/pvrdma-agent.toml.d"
  agent sh -c "printf '[modules]\nbefore = [\"dummy\"]\n' >$config/pvrdma-agent.toml.d/99.toml"
  expect "a module of the user's own drop-in is refused" refused LoadModule "$(load dummy)"
  expect_not "the module is not loaded" module_loaded dummy
  # The first error of a reader of TOML would be in the first line, which is root's.
  echo 'root:$6$labsalt$labhash' | chpasswd -e
  expect "root's hash is in the first line of the file" sh -c 'head -n 1 /etc/shadow | grep labhash'
  agent ln -s /etc/shadow "$config/pvrdma-agent.toml"
  agent ln -s /etc/shadow "$config/pvrdma-agent.toml.d/10.toml"
  expect "a link to a file that only root may read is refused" refused LoadModule "$(load dummy)"
  expect "the refusal names the folder" grep -F "$config" answer
  pvrdma-agentctl report >report.out 2>&1 || true
  for place in answer report.out; do
    expect_not "$place quotes nothing of that file" grep -qE 'labhash|daemon:\*' "$place"
  done
  expect_not "the journal quotes nothing of it" sh -c 'journalctl -b -o cat | grep -E "labhash|daemon:[*]"'
  for name in "$(printf 'a%.0s' {1..65})" ../../tmp/x 'a b' $'vmw_pvrdma\nx' ''; do
    expect "no module: ${name@Q}" not_allowed LoadModule "$(load "$name")"
  done
  expect "the agent's user may not choose addresses" not_allowed ConfigureLink \
    '{"function": "0000:00:10.1", "netdev": "ens16f0", "mtu": 9000, "addresses": ["192.168.30.9/24"]}'
  rm -r "$config"
}

socket() {
  expect_equal "the socket's directory belongs to root" "root 755" "$(stat -c '%U %a' /run/pvrdma-agent-executor)"
  expect_equal "the socket belongs to the agent's user" "600 pvrdma-agent" "$(stat -c '%a %U' "$executor_socket")"
  expect_not "the agent's user cannot replace the socket" agent mv "$executor_socket" /run/pvrdma-agent/taken
  agent ln -sf /etc/shadow /run/pvrdma-agent/io.pvrdma.Executor
  systemctl stop pvrdma-agent-executor.service
  systemctl restart pvrdma-agent-executor.socket
  expect_equal "no file has changed its owner" "root" "$(stat -c %U /etc/shadow)"
}

# Many refused requests leave the ledger small, and reloads are limited. Unit tests reach the limit (test_operations.cpp); here the
# ledger has as many reloads as are allowed, all but one of them copies.
ledger_and_limits() {
  local driver
  pvrdma-agentctl reload
  wait_until 20 "ready" health_is ready
  python3 -c 'for i in range(200): print("LoadModule {\"module\": \"" + ("x" * 2000 if i % 2 else "dummy") + str(i) + "\"}")' |
    executor_calls >answers
  expect_equal "100 modules are not allowed" 100 "$(grep -c '"error":"io.pvrdma.Executor.NotAllowed"' answers)"
  expect_equal "100 names are no names of modules" 100 "$(grep -c '"error":"org.varlink.service.InvalidParameter"' answers)"
  expect "the ledger stays small" [ "$(stat -c %s /run/pvrdma-agent-executor/ledger.json)" -lt 65536 ]
  expect_equal "the refused requests do not remove the reload from the ledger" 1 \
    "$(ledger '[.attempts[] | select(.verb == "ReloadDriver" and .outcome == "done")] | length')"
  systemctl stop pvrdma-agent-executor.service
  ledger '(.attempts[] | select(.verb == "ReloadDriver" and .outcome == "done")) as $reload
    | .attempts = [range(29) | $reload] + .attempts' >full.json
  cat full.json >/run/pvrdma-agent-executor/ledger.json
  driver=$(stat -c %i /sys/module/vmw_pvrdma)
  expect "the executor itself limits reloads" refused ReloadDriver '{}'
  cat answer
  expect "the answer names the limit" grep -F "as often as is allowed" answer
  expect_equal "the driver was not reloaded" "$driver" "$(stat -c %i /sys/module/vmw_pvrdma)"
}

# An executor that fails at once, again and again, works again as soon as the cause is gone.
fails_fast() {
  mkdir -p /run/systemd/system/pvrdma-agent-executor.service.d
  printf '[Service]\nExecStart=\nExecStart=/bin/false\n' >/run/systemd/system/pvrdma-agent-executor.service.d/lab.conf
  systemctl daemon-reload
  systemctl stop pvrdma-agent-executor.service
  agent python3 -c "import socket, time
s = socket.socket(socket.AF_UNIX); s.connect('$executor_socket'); s.sendall(b'{}'); s.settimeout(60); s.recv(1)" >/dev/null 2>&1 &
  wait_until 30 "the executor has failed more than twice" sh -c '[ "$(systemctl show -P NRestarts pvrdma-agent-executor.service)" -gt 2 ]'
  expect "the executor's socket listens" unit_is pvrdma-agent-executor.socket active
  rm -r /run/systemd/system/pvrdma-agent-executor.service.d
  systemctl daemon-reload
  wait_until 20 "the executor answers again" bash -c "$(declare -f executor executor_calls agent refused load); executor_socket=$executor_socket refused LoadModule '$(load dummy)'"
}

# A reload of the unit has root signal its main process, and the agent may name that to systemd. `liar` does what the agent's user could
# have the agent do: it names a process of root, and notes each SIGHUP.
misdirected_reload() {
  local victim reload
  sleep 600 &
  victim=$!
  cat >/usr/local/bin/liar <<'P'
import os, signal, socket, sys
signal.signal(signal.SIGHUP, lambda *_: print("SIGHUP", flush=True))
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(f"MAINPID={sys.argv[1]}\nREADY=1".encode(), os.environ["NOTIFY_SOCKET"])
while True: signal.pause()
P
  reload=$(sed -n 's/^ExecReload=//p' /usr/lib/systemd/system/pvrdma-agent.service)
  systemd-run --quiet --unit=liar -p Type=notify -p User=pvrdma-agent -p "ExecReload=$reload" /usr/bin/python3 /usr/local/bin/liar "$victim"
  systemctl reload liar.service
  wait_until 10 "a reload signals the unit's own process" sh -c 'journalctl -b -u liar -o cat | grep -x SIGHUP'
  expect "a process of root that the unit has named as its own runs on" kill -0 "$victim"
  systemctl stop liar.service
  kill "$victim"
  wait "$victim" || true
}

# Root's check of the configuration reads with the rights of the agent's user, who may not stop it: after-upgrade, and so dpkg, waits for
# its end. `stopper` tries from the moment in which such a process starts.
stopped_check() {
  local stopper
  cat >/usr/local/bin/stopper <<'P'
import os, signal
while True:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            while open(f"/proc/{pid}/cmdline", "rb").read() == b"pvrdma-agent\0--check-config\0":
                try:
                    os.kill(int(pid), signal.SIGSTOP)
                except PermissionError:
                    print("refused", flush=True)
        except OSError:
            pass
P
  # In the background a function would run in a shell of its own, and `kill` would end only that.
  "${as_agent[@]}" python3 /usr/local/bin/stopper >stopper.out &
  stopper=$!
  wait_until 20 "the agent's user tries to stop a check" sh -c 'timeout --signal=KILL 10 pvrdma-agent --check-config && grep -q refused stopper.out'
  for ((i = 0; i < 20; ++i)); do
    expect "the agent's user does not stop a check" timeout --signal=KILL 10 pvrdma-agent --check-config
  done
  expect "the agent's user does not stop an upgrade" timeout --signal=KILL 60 /usr/libexec/pvrdma-agent/after-upgrade
  kill "$stopper"
  wait "$stopper" || true
  expect_not "the stopper has ended" pgrep -u pvrdma-agent -f /usr/local/bin/stopper
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  stopped_check
  misdirected_reload
  write_call
  configuration
  socket
  ledger_and_limits
  fails_fast
  expect "the agent still runs" unit_active pvrdma-agent.service
}
