# SPDX-License-Identifier: GPL-2.0-or-later
# summary: each system call of the daemon and of the executor fails in turn: ready again by itself, the driver is not left out, and no verdict contradicts what sysfs says
# adapters: 1
# start: snapshot
# soak: yes
# timeout: 7200
#
# PVRDMA_LAB_WORKS="bind reload": these works only. PVRDMA_LAB_WORKS_CALLS=REGEX: these calls only.

# shellcheck source=tests/lab/guest/truth.sh
. /run/lab/truth.sh

# Errors that the kernel may give for such a call.
errors_of() { # CALL
  case $1 in
    read | pread64 | readlink* | getdents64 | fstat | newfstatat | statx) echo EIO ENOMEM EINTR ;;
    openat* | socket | accept* | eventfd2 | timerfd_create | epoll_create1 | dup* | fcntl | pipe2) echo EMFILE ENOMEM EIO EINTR ;;
    write | pwrite64 | fsync | ftruncate | rename* | unlink* | mkdir* | finit_module) echo ENOSPC EIO ENOMEM EINTR ;;
    # The kernel's epoll_wait knows no other (ep_poll(), fs/eventpoll.c).
    epoll_wait | epoll_pwait*) echo EINTR ;;
    ppoll | poll | clock_nanosleep | wait4 | flock | connect | recv* | send*) echo EINTR ENOMEM EIO ;;
    *) echo ENOMEM EIO ;;
  esac
}
# Calls that do not fail like this, by their manual pages, and whose failure libraries do not expect. A failing brk gives no
# error but the old end of the heap (brk(2)): the C library would take an error for the address of a new one. A seek in a
# file of a disk does not fail (lseek(2)): libkmod would take it for the end of its index. A timer is set without memory or a
# device (timerfd_settime(2)). A wake by futex(2) has none of these errors, and strace cannot tell it from a wait; at any of them
# the C library ends the program (futex_fatal_error(), glibc).
not_for_faults='brk|lseek|timerfd_settime|futex|exit|exit_group|rt_sig.*|restart_syscall|getpid|gettid|getuid|geteuid|getppid|execve|arch_prctl|set_.*|rseq'

calls_of() { sed -nE 's/^[0-9]+ +([a-z][a-z0-9_]*)\(.*/\1/p' "$1" | sort -u | grep -vxE "$not_for_faults"; } # TRACE

# Otherwise the agent would put off the next attempt because of the earlier ones, which both processes remember.
forget_attempts() {
  systemctl -q stop pvrdma-agent-executor.service 2>/dev/null
  rm -f /run/pvrdma-agent-executor/ledger.json
  systemctl restart pvrdma-agent.service
  wait_until 60 "" all_well >/dev/null
}

# Makes the work for which the unit exists while strace does this to its process.
work_under() { # UNIT WORK STRACE-OPTION…
  local unit=$1 work=$2 pid strace
  shift 2
  [[ $unit != *executor* ]] || forget_attempts
  systemctl start "$unit"
  pid=$(main_pid "$unit") agent=$(agent_pid)
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
reload() { timeout 60 pvrdma-agentctl reload 2>&1 || echo "  reload: status $?"; }
# The fault may delay the result, or prevent it until strace has gone.
bind() {
  function_of 0 >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  soon 15 driver_bound 0
}
configuration() {
  ip address delete "$truth_address" dev ens16f0
  soon 15 has_ipv4 ens16f0 "$truth_address"
}
# The works of the executor share most calls, so each of the three works takes a third of a call's errors, at least one.
share_of() { # WORK ERROR…
  local n=0 first errors=("${@:2}")
  case $1 in
    bind) first=0 ;;
    configuration) first=1 ;;
    reload) first=2 ;;
    *) echo "${errors[@]}"; return ;;
  esac
  for ((n = first % ${#errors[@]}; n < ${#errors[@]}; n += 3)); do echo "${errors[n]}"; done
}

each_call_fails() { # UNIT WORK
  local unit=$1 work=$2 call error calls times pairs=0 restarts=0 agent often=1..3
  # After its third failure in a row the agent waits a minute before it calls the executor again.
  [[ $unit != *executor* ]] || often=1..2
  work_under "$unit" "$work"
  wait_until 120 "$unit, $work: ready" all_well
  mapfile -t calls < <(calls_of trace | grep -xE "${PVRDMA_LAB_WORKS_CALLS:-.*}")
  echo "$unit, $work: ${calls[*]}"
  expect "there are calls" [ "${#calls[@]}" -gt 0 ]
  for call in "${calls[@]}"; do
    # shellcheck disable=SC2046  # words
    for error in $(share_of "$work" $(errors_of "$call")); do
      systemctl reset-failed pvrdma-agent.service "$unit" 2>/dev/null || true
      work_under "$unit" "$work" -e trace="$call" -e inject="$call:error=$error:when=$often"
      times=$(grep -c INJECTED trace) || true
      heals 120 "$work, $call, $error, $times times"
      units_said
      [[ $(agent_pid) == "$agent" ]] || restarts=$((restarts + 1))
      pairs=$((pairs + (times > 0)))
    done
  done
  expect "errors were injected" [ "$pairs" -gt 0 ]
  echo "BENCH $work: $pairs pairs of call and error, $restarts with a restart of the daemon"
}

scenario() {
  watch_truth
  local driver work
  driver=$(stat -c %i /sys/module/vmw_pvrdma)
  for work in ${PVRDMA_LAB_WORKS:-look bind configuration reload}; do
    case $work in
      look)
        each_call_fails pvrdma-agent.service look
        expect_equal "the driver was not reloaded" "$driver" "$(stat -c %i /sys/module/vmw_pvrdma)"
        ;;
      *) each_call_fails pvrdma-agent-executor.service "$work" ;;
    esac
  done
  expect_equal "pairs that do not heal, or whose verdict contradicts sysfs" 0 "$failures"
}
