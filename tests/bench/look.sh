# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: a look beside 10 and 1,000 addresses and routes of other interfaces, and beside 100,000 routes
# timeout: 1800

interfaces() {
  local n
  for n in 0 2 4 6 8; do
    ip link add "other$n" type veth peer name "other$((n + 1))"
    ip link set "other$n" up
    ip link set "other$((n + 1))" up
  done
}
# Linux takes hours on an emulated CPU to add 100,000 addresses, as each is compared with those before.
more() { # FROM TO
  awk -v from="$1" -v to="$2" 'BEGIN {
    for (n = from; n < to; n++) {
      rest = int(n / 65536) "." int(n / 256) % 256 "." n % 256 "/32 dev other" n % 10
      if (n < 1000) print "address add 10." rest
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
