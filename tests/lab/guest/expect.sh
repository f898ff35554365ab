# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by lib.sh: expectations, waits, and diagnostics for failures.
# shellcheck shell=bash
# Invariants: every wait has a bound; a failure says what was expected and prints diagnostics once.

# --- failing ----------------------------------------------------------------------------------------------------

diagnostics() {
  [[ ! -e /run/lab/diagnosed ]] || return 0
  : >/run/lab/diagnosed
  echo "--- diagnostics at uptime $(uptime_ms) ms"
  local command
  # The most useful command comes last, because logs are read, and cut, from their ends.
  for command in "dmesg_tail" "lsmod_rdma" "systemctl --no-pager --failed --no-legend" \
    "systemctl --no-pager list-jobs --no-legend" "agent_journal" "timeout 5 rdma link" "ip -br addr" "adapters_seen" \
    "timeout 5 pvrdma-agentctl health"; do
    [[ $command != *pvrdma-agentctl* ]] || command -v pvrdma-agentctl >/dev/null || continue
    echo "--- $command"
    $command 2>&1 || true
  done
  echo "--- end of diagnostics"
}
lsmod_rdma() { lsmod | grep -E 'pvrdma|vmxnet3|ib_|rdma|mlx' || true; }
dmesg_tail() { dmesg | tail -n 40; }
adapters_seen() {
  local n
  for ((n = 0; n < LAB_ADAPTERS; n++)); do
    echo "adapter $n: function $(function_of $n), netdev $(netdev_of $n), device $(rdma_of $n), port $(port_state $n)"
  done
}

# One line that stands after the failure in the summary of all tests.
health_said() {
  command -v pvrdma-agentctl >/dev/null || return 0
  timeout 10 pvrdma-agentctl --json health | gojq -r '"; health: \(.state), \([.findings[].id] | join(" "))"' | head -c 150
}
die() { trap - ERR; echo "FAIL: $*$(health_said 2>/dev/null || true)"; diagnostics; exit 1; }
skip() { trap - ERR; echo "SKIP: $*"; exit 77; }
unexpected() { # the ERR trap's: status command file line
  [[ $BASH_SUBSHELL -gt 0 ]] || die "$3:$4: '$2' ended with status $1"
}

# What the kernel says of its own faults. Since Linux 6.19 a warning begins with the place in the source ("WARNING: file.c:1 at f, CPU#0").
kernel_faults='Oops|BUG:|kernel BUG|invalid opcode:|WARNING: .*CPU|general protection|blocked for more than|soft lockup'
# The end of each boot asks this, by main or `host reset`. LAB_ALLOW_OOPS is not set where a person types the request.
kernel_is_sane() {
  local found
  [[ -z ${LAB_ALLOW_OOPS-by hand} ]] || return 0
  found=$(dmesg | grep -E "$kernel_faults|rcu.*stall" || true)
  [[ -n $found ]] || return 0
  echo "FAIL: the kernel complained during the scenario:"
  dmesg | grep -E -A 40 -m 1 "$kernel_faults|rcu.*stall"
  return 1
}

# --- expecting and waiting --------------------------------------------------------------------------------------

# The summary of all tests has only the line of the failure, so that line has the end of what the command said.
last_words() { tail -n 1 /run/lab/expect.out | tr -d '\000' | sed -E 's/^(.{200}).*/\1…/; s/^(.+)$/: \1/'; }
expect() { # DESCRIPTION COMMAND…: holds now
  local what=$1
  shift
  if "$@" >/run/lab/expect.out 2>&1; then
    echo "ok: $what"
  else
    local status=$?
    cat /run/lab/expect.out
    die "$what ('$*' ended with status $status$(last_words))"
  fi
}
expect_not() { # DESCRIPTION COMMAND…: fails now
  local what=$1
  shift
  if "$@" >/run/lab/expect.out 2>&1; then
    cat /run/lab/expect.out
    die "$what ('$*' succeeded)"
  fi
  echo "ok: $what"
}
expect_equal() { # DESCRIPTION EXPECTED SEEN
  [[ $2 == "$3" ]] || die "$1: expected '$2', saw '$3'"
  echo "ok: $1: $3"
}

# Nothing ever arrives on descriptor 8: a read with a time-out is a pause without a process. This is no <(:), whose end bash 5.2
# can miss (jobs.c, procsub_add()); a `wait` for all processes then waits for the subscriber of health_changes too, which never ends.
[[ -p /run/lab/never ]] || mkfifo /run/lab/never
exec 8<>/run/lab/never
uptime_ms_into() { # VARIABLE, which is set without the fork of a $(…)
  local uptime rest
  read -r uptime rest </proc/uptime
  printf -v "$1" %d "$((10#${uptime/./} * 10))"
}
pause_ms() { # MILLISECONDS
  local seconds
  printf -v seconds '%d.%03d' "$(($1 / 1000))" "$(($1 % 1000))"
  read -r -t "$seconds" -u 8 || true
}
# Pauses twice as long as the look took that began at LOOK, so that the waiting takes at most a third of a CPU. Pauses for a
# sixth of the time since START if that is longer: an event that takes long need not be seen at once.
pause_since() { # START LOOK, both of uptime_ms
  local now pause
  uptime_ms_into now
  pause=$((2 * (now - $2)))
  ((pause >= (now - $1) / 6)) || pause=$(((now - $1) / 6))
  pause_ms "$((pause < 50 ? 50 : pause > 1000 ? 1000 : pause))"
}

# A look at health is slow on an emulated CPU. So a wait for health looks again when a subscriber to WatchHealth says that
# health has changed, and for other parts of the condition every two seconds, later after a tenth of the waiting time.
health_watched() { { : >&6; } 2>/dev/null; }
health_changes() { # starts the subscriber, whose lines come on descriptor 6
  health_watched && return
  [[ -p health.changes ]] || mkfifo health.changes
  exec 6<>health.changes
  { exec 7>&- 9>&-; pvrdma-agentctl --json watch | grep --line-buffered -o '^.'; } >&6 2>/dev/null &
  disown
}
forget_changes() { while read -r -t 0 -u 6 && read -r -t 1 -u 6; do :; done; }
before_look() {
  : >/run/lab/health.asked
  ! health_watched || forget_changes
}
after_look() { # START LOOK, both of uptime_ms
  local pause
  if [[ -s /run/lab/health.asked ]]; then
    health_changes
    pause=$((($2 - $1) / 10000))
    read -r -t "$((pause < 2 ? 2 : pause > 10 ? 10 : pause))" -u 6 || true
  else
    pause_since "$1" "$2"
  fi
}
# A state that must last is looked at four times a second, so that the looks take at most a fifth of a CPU. Health is watched.
between_looks() { # LOOK, of uptime_ms
  local now pause
  uptime_ms_into now
  pause=$((4 * (now - $1)))
  if [[ -s /run/lab/health.asked ]]; then after_look "$1" "$1"; else pause_ms "$((pause < 200 ? 200 : pause))"; fi
}

# Dies when the time is over, at the second look after that: if the whole guest stalls, the event and the end of the time may
# come at the same moment.
wait_until() { # SECONDS DESCRIPTION COMMAND…: looks again and again
  local limit=$1 what=$2 start look late=0
  shift 2
  uptime_ms_into start
  look=$start
  before_look
  until "$@" >/run/lab/expect.out 2>&1; do
    if ((look - start > limit * 1000 && late++)); then
      cat /run/lab/expect.out
      die "not within $limit s: $what ('$*')"
    fi
    after_look "$start" "$look"
    before_look
    uptime_ms_into look
  done
  uptime_ms_into look
  echo "ok: $what (after $((look - start)) ms)"
}
holds_for() { # SECONDS DESCRIPTION COMMAND…: looks again and again, also at the end; the command must always succeed
  local limit=$1 what=$2 start look
  shift 2
  uptime_ms_into start
  while :; do
    uptime_ms_into look
    before_look
    "$@" >/run/lab/expect.out 2>&1 || { cat /run/lab/expect.out; die "did not stay so for $limit s: $what ('$*')"; }
    ((look - start < limit * 1000)) || break
    between_looks "$look"
  done
  echo "ok: $what (for $limit s)"
}
wait_boot() { # [SECONDS]: until systemd has no start job left, degraded or not
  rm -f /run/lab/boot.out
  systemctl is-system-running --wait >/run/lab/boot.out 2>&1 &
  wait_until "${1:-60}" "the boot has finished" grep -qxE 'running|degraded' /run/lab/boot.out
}
