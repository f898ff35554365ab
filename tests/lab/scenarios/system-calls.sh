# SPDX-License-Identifier: GPL-2.0-or-later
# summary: each system call of the daemon and of the executor fails in turn: ready again by itself, the driver is not left out, and no verdict contradicts what sysfs says
# adapters: 1
# start: snapshot
# soak: yes
# timeout: 7200

# Errors that the kernel may give for such a call.
errors_of() { # CALL
  case $1 in
    read | pread64 | readlink* | getdents64 | fstat | newfstatat | statx) echo EIO ENOMEM EINTR ;;
    openat* | socket | accept* | eventfd2 | timerfd_create | epoll_create1 | dup* | fcntl | pipe2) echo EMFILE ENOMEM EIO EINTR ;;
    write | pwrite64 | fsync | ftruncate | rename* | unlink* | mkdir* | finit_module) echo ENOSPC EIO ENOMEM EINTR ;;
    epoll_wait | epoll_pwait* | ppoll | poll | futex | clock_nanosleep | wait4 | flock | connect | recv* | send*) echo EINTR ENOMEM EIO ;;
    *) echo ENOMEM EIO ;;
  esac
}
# Calls that do not fail like this, by their manual pages, and whose failure libraries do not expect.
not_for_faults='exit|exit_group|rt_sig.*|restart_syscall|getpid|gettid|getuid|geteuid|getppid|execve|arch_prctl|set_.*|rseq'

calls_of() { sed -nE 's/^[0-9]+ +([a-z][a-z0-9_]*)\(.*/\1/p' "$1" | sort -u | grep -vxE "$not_for_faults"; } # TRACE

# Makes the work for which the unit exists while strace does this to its process.
work_under() { # UNIT WORK STRACE-OPTION…
  local unit=$1 work=$2 pid strace
  shift 2
  systemctl start "$unit"
  pid=$(main_pid "$unit")
  strace -f -qq -o trace -p "$pid" "$@" &
  strace=$!
  wait_until 20 "" traced "$pid" >/dev/null
  "$work"
  kill -INT "$strace" 2>/dev/null || true
  wait "$strace" || true
}

# --- work ---

look() {
  systemctl reload --no-block pvrdma-agent.service
  look_now
  timeout 5 pvrdma-agentctl health >/dev/null 2>&1 || true
  host port 0 DOWN
  wait_until 10 "" port_is 0 DOWN >/dev/null
  host port 0 ACTIVE
  wait_until 10 "" port_is 0 ACTIVE >/dev/null
  timeout 5 pvrdma-agentctl health >/dev/null 2>&1 || true
}
look_now() { udevadm trigger --action=change --subsystem-match=infiniband --settle; }
reload() { timeout 60 pvrdma-agentctl reload >/dev/null 2>&1 || true; }
bind() {
  function_of 0 >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  soon driver_bound 0
}
configuration() {
  ip address delete 192.168.30.201/24 dev ens16f0
  soon has_ipv4 ens16f0 192.168.30.201/24
}
# The fault may delay the result; then the wait for readiness sees it.
soon() { # COMMAND…
  local began
  began=$(uptime_ms)
  until "$@" || (($(uptime_ms) - began > 5000)); do pause_50ms; done
}

each_call_fails() { # UNIT WORK
  local unit=$1 work=$2 call error calls pairs=0 restarts
  restarts=$(systemctl show -P NRestarts pvrdma-agent.service)
  work_under "$unit" "$work"
  wait_until 120 "$unit, $work: ready" health_is ready
  mapfile -t calls < <(calls_of trace)
  echo "$unit, $work: ${calls[*]}"
  expect "there are calls" [ "${#calls[@]}" -gt 10 ]
  for call in "${calls[@]}"; do
    for error in $(errors_of "$call"); do
      systemctl reset-failed pvrdma-agent.service "$unit" 2>/dev/null || true
      work_under "$unit" "$work" -e trace="$call" -e inject="$call:error=$error:when=1..3"
      wait_until 120 "$work, $call, $error: $(grep -c INJECTED trace) times; ready" all_well
      expect_equal "$work, $call, $error: verdicts that contradict sysfs" "" "$(cat contradictions)"
      pairs=$((pairs + 1))
    done
  done
  echo "BENCH $work: $pairs pairs of call and error, $(($(systemctl show -P NRestarts pvrdma-agent.service) - restarts)) restarts of the daemon"
}
all_well() { health_is ready && driver_bound 0 && port_is 0 ACTIVE && has_ipv4 ens16f0 192.168.30.201/24; }

scenario() {
  agent_config <<'TOML'
[[adapter]]
match     = { netdev = "ens16f0" }
addresses = ["192.168.30.201/24"]
TOML
  systemctl reload pvrdma-agent.service
  wait_until 60 "ready, with the address" all_well
  python3 watch.py 0.1 >contradictions 2>&1 &
  local driver
  driver=$(stat -c %i /sys/module/vmw_pvrdma)
  each_call_fails pvrdma-agent.service look
  expect_equal "the driver was not reloaded" "$driver" "$(stat -c %i /sys/module/vmw_pvrdma)"
  for work in bind configuration reload; do
    each_call_fails pvrdma-agent-executor.service "$work"
  done
}
