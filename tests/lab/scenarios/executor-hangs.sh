# summary: the executor's module load hangs: health answers within 100 ms and names the stuck call
# adapters: 1
# timeout: 150

# Asks 50 times, each on a connection of its own: slowest answer in ms, the call under way, whether it is stuck.
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

stuck() { health_query .executor.busy.stuck | grep -qx true; }

scenario() {
  write_ask
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "and is at rest" at_rest
  systemctl start pvrdma-agent-executor.service
  kill -STOP "$(systemctl show -P MainPID pvrdma-agent-executor.service)"
  modprobe -r vmw_pvrdma
  wait_until 20 "a call is under way" sh -c 'pvrdma-agentctl --json health | jq -e .executor.busy.call'
  local answer
  answer=$(python3 ask.py)
  expect "50 answers, the slowest within 100 ms, naming the call: $answer" \
    [ "$(awk '{ print ($1 <= 100) && $2 == "LoadModule" && $3 == "vmw_pvrdma" }' <<<"$answer")" = 1 ]
  wait_until 40 "it is called stuck" stuck
  expect "a finding says so" finding executor-stuck
  expect "and the journal, once" [ "$(journalctl -b -u pvrdma-agent -o cat | grep -c 'has not come back from the kernel')" = 1 ]
  answer=$(python3 ask.py)
  expect "still within 100 ms: $answer" [ "$(awk '{ print ($1 <= 100) && $4 == "True" }' <<<"$answer")" = 1 ]
  kill -CONT "$(systemctl show -P MainPID pvrdma-agent-executor.service)"
  wait_until 40 "let go, it goes on" health_is ready
}
