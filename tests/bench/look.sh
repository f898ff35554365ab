# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: a look beside 10, 1,000 and 100,000 addresses and routes of other interfaces
# timeout: 1800

interfaces() {
  local n
  for ((n = 0; n < 100; n++)); do
    ip link add "other$n" type dummy
    ip link set "other$n" up
  done
}
# Linux compares a new address with all those of its interface, so a hundred interfaces share them.
more() { # FROM TO
  awk -v from="$1" -v to="$2" 'BEGIN {
    for (n = from; n < to; n++) {
      rest = int(n / 65536) "." int(n / 256) % 256 "." n % 256 "/32 dev other" n % 100
      print "address add 10." rest
      print "route add 11." rest
    }
  }' | ip -batch -
}
write_look() {
  cat >look.py <<'P'
import glob, json, socket, statistics, sys, time
many, pid = sys.argv[1:]
agent = socket.socket(socket.AF_UNIX)
agent.settimeout(120)
agent.connect("/run/pvrdma-agent/io.pvrdma.Agent")
def cpu_ms(): return sum(int(open(path).read().split()[0]) for path in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e6
def look():
    began, answer = time.monotonic(), b""
    agent.sendall(b'{"method":"io.pvrdma.Agent.Refresh"}\0')
    while not answer.endswith(b"\0"): answer += agent.recv(65536)
    assert json.loads(answer[:-1])["parameters"]["health"]["state"] == "ready", answer
    return (time.monotonic() - began) * 1e3
look()
before = cpu_ms()
took = [look() for _ in range(20)]
print(f"BENCH look-{many}-ms {statistics.median(took):.1f}\nBENCH look-{many}-cpu-ms {(cpu_ms() - before) / 20:.1f}")
P
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 40 "the executor has gone" at_rest
  write_look
  interfaces
  local have=0 many
  for many in 10 1000 100000; do
    more "$have" "$many"
    have=$many
    wait_until 60 "health says ready" health_is ready
    python3 look.py "$many" "$(agent_pid)"
  done
}
