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
# Linux compares a new address with all those of its interface, so a hundred interfaces share them. ip(8) asks for all
# interfaces again for each line of a batch, and keeps the answers.
write_more() {
  cat >more.py <<'P'
import socket, struct, sys
first, end = map(int, sys.argv[1:])
ADDRESS, ROUTE = 20, 24 # RTM_NEWADDR, RTM_NEWROUTE
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
kernel.bind((0, 0))
index = [socket.if_nametoindex(f"other{n}") for n in range(100)]
def attribute(kind, value): return struct.pack("=HH", 4 + len(value), kind) + value
def add(kind, content):
    kernel.send(struct.pack("=IHHII", 16 + len(content), kind, 0x605, 0, 0) + content) # request, acknowledge, create, exclusively
    error, = struct.unpack_from("=i", kernel.recv(8192), 16)
    assert error == 0, error
for n in range(first, end):
    rest, link = n.to_bytes(3, "big"), index[n % 100]
    add(ADDRESS, struct.pack("=BBBBI", 2, 32, 0, 0, link) + attribute(1, b"\x0a" + rest) + attribute(2, b"\x0a" + rest))
    add(ROUTE, struct.pack("=BBBBBBBBI", 2, 32, 0, 0, 254, 4, 253, 1, 0) + attribute(1, b"\x0b" + rest) + attribute(4, struct.pack("=I", link)))
P
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
  write_more
  write_look
  interfaces
  local have=0 many
  for many in 10 1000 100000; do
    python3 more.py "$have" "$many"
    have=$many
    wait_until 60 "health says ready" health_is ready
    python3 look.py "$many" "$(agent_pid)"
  done
}
