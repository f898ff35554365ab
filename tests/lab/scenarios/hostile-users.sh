# SPDX-License-Identifier: GPL-2.0-or-later
# summary: attacks of unprivileged users on root's tools and the agent: scripts, argv, names of processes, watches, passed descriptors, floods of requests
# adapters: 1
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-400}

as() { setpriv --reuid "$1" --regid nogroup --clear-groups "${@:2}"; } # USER COMMAND…
reloads_now() { pvrdma-agentctl reload >reload.out 2>&1; grep '^reloaded' reload.out; }
the_same_agent() { [[ $(agent_pid) == "$agent_before" ]] && unit_active pvrdma-agent.service; }

# hold COUNT: clients of the agent's socket that ask for every change and then send nothing, as the user who runs this.
write_watches() {
  cat >/usr/local/bin/watches <<'P'
import socket, sys
held = []
for _ in range(int(sys.argv[1])):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect("/run/pvrdma-agent/io.pvrdma.Agent")
        s.sendall(b'{"method":"io.pvrdma.Agent.WatchHealth","more":true}\0')
    except OSError:
        continue
    held.append(s)
print("held", flush=True)
sys.stdin.read()
P
}

scripts_of_users() {
  mkdir -p /var/spool/cron/crontabs
  install -m 755 /dev/stdin /home/mallory/bash <<'P'
#!/bin/sh
id -u >/home/mallory/was-run
P
  printf '#!/home/mallory/bash\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n' >/home/mallory/start.sh
  chmod 755 /home/mallory/start.sh
  printf '@reboot /home/mallory/start.sh\n@reboot modprobe vmw_pvrdma\n' >/var/spool/cron/crontabs/mallory
  chown -R mallory: /home/mallory /var/spool/cron/crontabs/mallory
  # A script of root runs the user's script as well.
  printf '#!/bin/sh\n/home/mallory/start.sh\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n' >/etc/rc.local
  chmod 755 /etc/rc.local
  pvrdma-agentctl migrate --apply >migrated 2>&1 || true
  cat migrated
  expect_not "root's migrate runs no interpreter of a user" test -e /home/mallory/was-run
  expect "a user's script is unchanged" grep -qx 'modprobe vmw_pvrdma' /home/mallory/start.sh
  expect "the user's crontab is unchanged" grep -qx '@reboot modprobe vmw_pvrdma' /var/spool/cron/crontabs/mallory
  expect "root's own script is moved" grep -q '^#pvrdma-agent# *modprobe' /etc/rc.local
  expect "the user's script that it runs is left to the administrator" grep -q '/home/mallory/start.sh' migrated
  pvrdma-agentctl migrate --revert
}

all_run() { # REGEX…: each matches the argv of a process of mallory
  local text
  for text; do pgrep -u mallory -f "$text" || return; done
}
# /etc/rc.local belongs to root and reloads the driver; systemd knows that it has not run and will not run.
arguments_of_users() {
  as mallory bash -c 'exec -a /etc/rc.local sleep 300' &
  as mallory sh -c 'sleep 300; :' /etc/rc.local &
  as mallory sh -c 'sleep 300; :' 'modprobe -r vmw_pvrdma; modprobe vmw_pvrdma' &
  as mallory sh -c 'sleep 300; :' "$(python3 -c 'print("\"$(" * 32000)')" &
  wait_until 10 "the users' programs run" all_run '^/etc/rc[.]local 300$' '^sh -c sleep 300; : /etc/rc[.]local$' \
    '^sh -c sleep 300; : modprobe -r vmw_pvrdma; modprobe vmw_pvrdma$' '^sh -c sleep 300; : "[$][(]"[$][(]'
  wait_until 20 "the agent reloads, although a user's argv looks like the script" reloads_now
  wait_until 20 "ready" health_is ready
  expect "the agent is the same process" the_same_agent
  pkill -u mallory
  rm /etc/rc.local
}

names_of_users() {
  cp /usr/bin/ibv_asyncwatch $'/home/mallory/x\nSTOPPING=1'
  udevadm settle --timeout=20
  as mallory $'/home/mallory/x\nSTOPPING=1' >events 2>&1 &
  wait_until 10 "a user's process holds the adapter" grep -q async events
  host port 0 DOWN
  wait_until 60 "the finding names the process" finding driver-in-use
  wait_until 10 "the status for systemd is one line" sh -c "systemctl show -P StatusText pvrdma-agent.service | grep 'held by x.*nSTOPPING=1'"
  expect "systemd does not take the agent for stopping" unit_is pvrdma-agent.service active
  pvrdma-agentctl health >health.out || true
  expect_not "no line of health begins with the user's text" grep -q '^STOPPING' health.out
  expect_not "no line of the journal begins with it" sh -c 'journalctl -b -o cat -u "pvrdma-agent*" | grep "^STOPPING"'
  pkill -u mallory
  host port 0 ACTIVE
  wait_until 45 "ready" health_is ready
}

workers_of_users() {
  as mallory bash -c 'printf kworker/u8:9 >/proc/self/comm; while :; do :; done' &
  wait_until 10 "a user's process has the name of a kernel worker" pgrep -u mallory -x kworker/u8:9
  renice -n 19 -u mallory >/dev/null
  echo "$(function_of 0)" >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  wait_until 30 "a function without its driver is bound nevertheless" driver_bound 0
  pkill -u mallory
  wait_until 20 "ready" health_is ready
}

places_of_users() {
  write_watches
  local user pipe
  for user in mallory mallet; do
    mkfifo "/run/lab/$user"
    as "$user" python3 /usr/local/bin/watches 600 <"/run/lab/$user" >"$user.out" 2>&1 &
  done
  exec {pipe}> >(tee /run/lab/mallory >/run/lab/mallet)
  wait_until 60 "the first of two users has all connections that it can get" grep -q held mallory.out
  wait_until 60 "the second has them too" grep -q held mallet.out
  expect "a third user gets an answer" as nobody pvrdma-agentctl health
  expect "the agent's own user, who waits for ready, gets an answer" systemctl restart pvrdma-agent-wait-online.service
  exec {pipe}>&-
  wait_until 30 "the agent closes the connections of clients that have left" sh -c "[ \$(find /proc/$(agent_pid)/fd | wc -l) -lt 100 ]"
}

flood() { /run/lab/files/flood "$@"; }
of() { gojq -r ".$2" "$1"; } # FILE FIELD
memory_came_back() { [[ $(agent_memory_kib) -le $(($1 + 300)) ]]; } # KIB
# The close of each descriptor takes five seconds.
descriptors_of_users() {
  local pid
  flood pass 15 mallory >passed &
  pid=$!
  flood ask 15 nobody >asked
  wait $pid
  cat passed asked
  expect "descriptors were passed" [ "$(of passed 'passed + .refused')" -ge 2 ]
  expect_equal "answers that another user did not get" 0 "$(of asked lost)"
  expect "each answer took 2 s at most" [ "$(of asked 'longest_ms | ceil')" -le 2000 ]
  expect "the user who passed them still gets answers" as mallory pvrdma-agentctl health
}
# The answers of a user during the flood, beside those of the quiet time. Times are shown and not judged: the attackers have the
# guest's only CPU for most of the time.
answered_in_flood() { # USER NUMBER: at least so many answers
  echo "$1, quiet: $(<"quiet.$1")"
  echo "$1, flooded: $(<"flooded.$1")"
  echo "BENCH flood-p99-ratio-$1 $(gojq -s '.[1].p99_ms / .[0].p99_ms * 10 | round / 10' "quiet.$1" "flooded.$1")"
  expect_equal "answers that $1 asked for and did not get within 10 s" 0 "$(of "flooded.$1" lost)"
  expect "$1 was answered often" [ "$(of "flooded.$1" answered)" -ge "$2" ]
  expect_equal "$1 was told both states of the port" "ACTIVE DOWN" "$(of "flooded.$1" 'states | join(" ")')"
  expect "$1 was told a wrong state for 4 s at most" [ "$(of "flooded.$1" wrong_ms)" -le 4000 ]
}
# Three users with eight processes each attack the agent's socket, each process in another way. The port fails meanwhile, of
# which the host sends no event.
floods_of_users() {
  local seconds=${PVRDMA_LAB_FLOOD_SECONDS:-8} user memory pids
  useradd --no-create-home malice
  wait_until 60 "the executor is at rest" at_rest
  # As long as the flood, as a p99 of few answers is that of the slowest.
  for user in root nobody; do flood ask "$seconds" "$user" >"quiet.$user"; done
  memory=$(agent_memory_kib)
  flood harm "$seconds" mallory mallet malice >harmed &
  pids=$!
  for user in root nobody; do
    flood ask "$seconds" "$user" >"flooded.$user" &
    pids+=" $!"
  done
  pause_ms 1000
  host port 0 DOWN
  pause_ms 5000 # more than the seconds for which a user may be told a wrong state
  host port 0 ACTIVE
  # shellcheck disable=SC2086  # several PIDs
  wait $pids
  cat harmed
  for user in root nobody; do answered_in_flood "$user" "$seconds"; done
  wait_until 60 "ready" health_is ready
  wait_until 60 "the executor is at rest" at_rest
  wait_until 30 "the agent's memory is within 300 KiB of before" memory_came_back "$memory"
  echo "BENCH flood-pss-kib-before $memory"
  echo "BENCH flood-pss-kib-after $(agent_memory_kib)"
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  useradd --create-home mallory
  useradd --no-create-home mallet
  agent_before=$(agent_pid)
  # This comes first, as the agent's status names one finding.
  names_of_users
  scripts_of_users
  arguments_of_users
  workers_of_users
  places_of_users
  descriptors_of_users
  floods_of_users
  expect "the agent was not restarted" the_same_agent
  expect_not "no program has crashed" sh -c 'dmesg | grep -i segfault'
}
