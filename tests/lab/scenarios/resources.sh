# SPDX-License-Identifier: GPL-2.0-or-later
# summary: /run, inodes, descriptors, PIDs, memory, the CPU and the disk run out: each is said, no verdict contradicts sysfs, and the agent heals by itself
# adapters: 1
# start: snapshot
# soak: yes
# timeout: 1800
#
# PVRDMA_LAB_WORKS="run cpu": these resources only.

# shellcheck source=tests/lab/guest/truth.sh
. /run/lab/truth.sh

as_user() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }

# The files of this scenario and the journal lie apart from what runs out.
apart() { # FOLDER
  mkdir -p "$1" "/mnt$1"
  mount -t tmpfs -o size=64M apart "/mnt$1"
  cp -a "$1/." "/mnt$1"
  mount --bind "/mnt$1" "$1"
}

# A flap, a look, a reload that is asked for, an address, the executor's start, and an answer for a user.
work() {
  systemctl -q stop pvrdma-agent-executor.service 2>/dev/null
  host port 0 DOWN
  soon 10 port_is 0 DOWN
  pause_ms 3000
  host port 0 ACTIVE
  as_user timeout 30 pvrdma-agentctl health >user 2>&1 || true
  ip address delete "$truth_address" dev ens16f0
  udevadm trigger --action=change --subsystem-match=infiniband --settle
  pause_ms 3000
  timeout 60 pvrdma-agentctl reload >reload 2>&1 || true
  health_query '.findings[] | "\(.id): \(.summary)"' >findings
}

without() { # RESOURCE
  local resource=$1
  echo "=== $resource"
  : >user >reload >findings
  journalctl --cursor-file=cursor -n 1 >/dev/null
  "take_$resource"
  if declare -F "work_$resource" >/dev/null; then "work_$resource"; else work; fi
  "give_$resource"
  heals 120 "$resource"
  journalctl --cursor-file=cursor -o cat --no-pager >journal
  tail user reload findings
  "said_$resource"
}
journal_said() { expect "the journal says: $1" grep -qE "$1" journal; }      # REGEX
reload_said() { expect "the answer about a reload says: $1" grep -qF "$1" reload; } # TEXT

# --- /run: the ledger, the records of addresses, the folders that systemd makes for a service ---

# Takes each page, or each inode, that becomes free in /run.
fill_run() { # bytes|inodes
  mount -o "remount,size=$(($(df --output=used -B1 /run | tail -n 1) + (1 << 18))),nr_inodes=$(($(df --output=iused /run | tail -n 1) + 8))" /run
  mkdir /run/full
  python3 - "$1" <<'P' &
import sys, time
while True:
    try:
        if sys.argv[1] == "bytes":
            with open("/run/full/file", "ab", buffering=0) as file:
                file.write(bytes(4096))
        else:
            open(f"/run/full/{time.monotonic_ns()}", "x").close()
    except OSError:
        time.sleep(0.02)
P
  filler=$!
  wait_until 5 "/run is full" full "$1"
}
full() { # bytes|inodes
  local left=avail
  [[ $1 == bytes ]] || left=iavail
  [[ $(df --output=$left /run | tail -n 1) -eq 0 ]]
}
empty_run() {
  kill "$filler"
  rm -r /run/full
  mount -o remount,size=64M,nr_inodes=100000 /run
}
take_run() { fill_run bytes; }
give_run() { empty_run; }
said_run() {
  journal_said 'ConfigureLink .*it is not counted: writing .*ledger.json: No space left on device'
  reload_said 'No space left on device'
}
take_inodes() { fill_run inodes; }
give_inodes() { empty_run; }
# systemd cannot make the folders of the executor's name space; it says so without the reason.
said_inodes() {
  journal_said 'No space left on device'
  journal_said 'pvrdma-agent-executor.service: Failed to set up mount namespacing'
}

# --- descriptors: the agent's own limit, and that of the system, which does not hold for CAP_SYS_ADMIN ---

# The agent's lowest free descriptor while it neither looks nor answers: the lowest of ten, as it may do so at any moment.
free_fd() {
  local pid=$1 n
  for _ in {1..10}; do
    n=0
    while [[ -L /proc/$pid/fd/$n ]]; do n=$((n + 1)); done
    echo "$n"
    pause_ms 50
  done | sort -n | head -n 1
}
take_descriptors() { prlimit --pid "$(agent_pid)" --nofile="$(($(free_fd "$(agent_pid)") + 1)):2048"; }
give_descriptors() { prlimit --pid "$(agent_pid)" --nofile=2048:2048; }
said_descriptors() {
  journal_said 'A part of the state is not known: .*: Too many open files'
  reload_said 'Too many open files'
}
# Half of what file-nr says: that number is an estimate (percpu_counter), and files that are closed meanwhile would be free for others.
take_files() {
  file_max=$(sysctl -n fs.file-max)
  sysctl -q "fs.file-max=$(($(cut -f 1 /proc/sys/fs/file-nr) / 2))"
}
give_files() { sysctl -q "fs.file-max=$file_max"; }
said_files() {
  journal_said 'accepting a client: Too many open files in system; clients get no answer'
  journal_said 'A part of the state is not known: .*: Too many open files in system'
}

# --- processes: the limits of the units, and that of the system ---

limit() { # PROPERTY AGENT EXECUTOR
  systemctl set-property --runtime pvrdma-agent.service "$1=$2"
  systemctl set-property --runtime pvrdma-agent-executor.service "$1=$3"
}
take_tasks() { limit TasksMax "$(cat /sys/fs/cgroup/system.slice/pvrdma-agent.service/pids.current)" 1; }
give_tasks() { limit TasksMax 32 16; }
said_tasks() {
  journal_said 'A part of the state is not known: starting .*port-query: Resource temporarily unavailable'
  expect_not "libraries are not blamed" grep -q ibv_query_port journal
}
# No process can start another, so the shell uses only what it has built in.
take_pids() {
  local tasks
  systemctl -q stop pvrdma-agent-executor.service 2>/dev/null
  threads_max=$(sysctl -n kernel.threads-max) function=$(function_of 0)
  read -r _ _ _ tasks _ </proc/loadavg
  tasks=${tasks#*/}
  echo "$((tasks - 20))" >/proc/sys/kernel/threads-max
}
ask_host_without_fork() {
  local answer
  echo "$*" >&9
  read -r -t 20 answer <&9
  [[ $answer == ok ]]
}
work_pids() {
  ask_host_without_fork port 0 DOWN
  echo "$function" >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  pause_ms 8000
  ask_host_without_fork port 0 ACTIVE
  pause_ms 3000
}
give_pids() { echo "$threads_max" >/proc/sys/kernel/threads-max; }
said_pids() { journal_said 'pvrdma-agent-executor.service: Failed .*Resource temporarily unavailable'; }

# --- memory: the limits of the units ---

take_memory() { limit MemoryMax 512K 512K; }
give_memory() { limit MemoryMax 128M 128M; }
said_memory() {
  journal_said 'pvrdma-agent.service: A process of this unit has been killed by the OOM killer'
  journal_said 'pvrdma-agent-executor.service: A process of this unit has been killed by the OOM killer'
  expect "a user is told so" grep -q 'pvrdma-agent is not running' user
}

# --- the CPU: a process of the highest priority takes it for 20 seconds ---

take_cpu() {
  # Otherwise the kernel complains that no other task runs.
  echo 1 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
  throttled=$(sysctl -n kernel.sched_rt_runtime_us)
  sysctl -q kernel.sched_rt_runtime_us=-1
}
just_looked() { [[ $(health_query .observed_ms_ago) -lt 500 ]]; }
work_cpu() {
  host port 0 DOWN
  soon 10 port_is 0 DOWN
  pause_ms 3000
  # The next look begins two seconds after the last, and so while no other task runs.
  soon 10 just_looked
  chrt -f 99 python3 -c 'import time
end = time.monotonic() + 20
while time.monotonic() < end: pass'
  host port 0 ACTIVE
}
give_cpu() { sysctl -q "kernel.sched_rt_runtime_us=$throttled"; }
said_cpu() { journal_said 'the agent could not run for [12][0-9]\.[0-9]+ s'; }

# --- the disk: the journal cannot be written, and the agent does not wait for it ---

take_disk() {
  fallocate -l "$(df --output=avail -B1 /var | tail -n 1)" /var/full || true
  dd if=/dev/zero of=/var/full2 bs=4k 2>/dev/null || true
  # The present files of the journal have room for some megabytes.
  journalctl --rotate
}
give_disk() { rm -f /var/full /var/full2; }
said_disk() {
  journal_said 'Failed to (create new|open) system journal: No space left on device'
  expect "the reload was done nevertheless" grep -q ^reloaded reload
}

scenario() {
  wait_until 60 "ready" health_is ready
  apart /run/lab
  cd /run/lab
  mkdir -p /var/log/journal
  journalctl --flush
  watch_truth
  local resource
  # Where /run was full, an operation is not counted, and a reload is refused for that reason for a minute.
  for resource in ${PVRDMA_LAB_WORKS:-descriptors files run inodes tasks pids memory cpu disk}; do
    without "$resource"
  done
  expect_equal "cases that do not heal, or whose verdict contradicts sysfs" 0 "$failures"
}
