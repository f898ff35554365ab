# SPDX-License-Identifier: GPL-2.0-or-later
# summary: 5,000 addresses on another interface and veths that come and go; sixty mounts; journald stopped: no verdict flips, links are mended, reloads answered
# adapters: 1
# start: snapshot

# Asks the agent to look, 100 times; prints the states that it answers.
write_refresh() {
  cat >refresh.py <<'P'
import json, socket
states = set()
s = socket.socket(socket.AF_UNIX); s.connect("/run/pvrdma-agent/io.pvrdma.Agent")
for _ in range(100):
    s.sendall(b'{"method":"io.pvrdma.Agent.Refresh"}\0'); b = b""
    while not b.endswith(b"\0"): b += s.recv(65536)
    states.add(json.loads(b[:-1])["parameters"]["health"]["state"])
print(*sorted(states))
P
}
many_addresses() {
  local i j
  ip link add services0 type veth peer name services1
  for i in {1..20}; do for j in {1..250}; do echo "address add 10.96.$i.$j/32 dev services0"; done; done | ip -batch -
}
veths_come_and_go() { while [[ ! -e over ]]; do ip link add v0 type veth peer name v1 && ip link del v0; done; }

# systemd makes the sandbox of a unit in a time that grows with the number of mounts. The guest's clock counts instructions, so
# both times are the same in each run.
reload_beside_mounts() {
  local n began reload restart
  mkdir /mnt/pods
  mount -t tmpfs pods /mnt/pods
  for ((n = 0; n < 60; n++)); do mkdir "/mnt/pods/$n" && mount --bind /mnt/pods/0 "/mnt/pods/$n"; done
  began=$(now_ms)
  systemctl reload pvrdma-agent.service
  reload=$(($(now_ms) - began)) began=$(now_ms)
  systemctl restart pvrdma-agent.service
  restart=$(($(now_ms) - began))
  expect "beside 60 mounts a reload of the configuration ($reload ms) needs no new sandbox, as a restart does ($restart ms)" \
    [ $((reload * 2)) -lt "$restart" ]
  umount --recursive /mnt/pods
  wait_until 30 "health says ready" health_is ready
}

# Fills the queue of journald's socket.
fill_journal() {
  python3 - <<'P'
import socket
senders = []  # several, as the bytes that one may have under way do not fill the queue
while True:
    sender, sent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK), 0
    try:
        while True:
            sender.sendto(b"MESSAGE=not ours\n", "/run/systemd/journal/socket")
            sent += 1
    except BlockingIOError:
        senders.append(sender)
    if sent == 0: break
P
}
journal_is_stopped() {
  local journald pid
  journald=$(main_pid systemd-journald.service) pid=$(agent_pid)
  kill -STOP "$journald"
  fill_journal
  ip link set ens16f0 down
  wait_until 30 "journald does not read: a link that goes down is brought up" netdev_up 0
  wait_until 30 "health says ready" health_is ready
  expect "a reload is answered" timeout 60 pvrdma-agentctl reload
  wait_until 30 "health says ready" health_is ready
  kill -CONT "$journald"
  ip link set ens16f0 down
  wait_until 70 "journald reads again: an entry has the number of dropped entries" journal_has 'entries were dropped, as the journal'
  expect_equal "the agent is the same process" "$pid" "$(agent_pid)"
}

scenario() {
  write_refresh
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "the executor is at rest" at_rest
  many_addresses
  veths_come_and_go &
  local states veths=$!
  states=$(python3 refresh.py)
  : >over
  wait "$veths"
  expect_equal "each of 100 looks with 5,000 addresses and veths sees everything" ready "$states"
  expect_not "every value could be read" journal_has 'part of the state is not known'
  expect_equal "nothing was reloaded" 0 "$(health_query .executor.reloads)"

  reload_beside_mounts
  journal_is_stopped
}
