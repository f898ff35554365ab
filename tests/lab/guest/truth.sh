# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scenarios in which the agent or the system under it lacks something: the agent must heal by itself, and no verdict
# meanwhile may contradict sysfs.
# shellcheck shell=bash

truth_address=192.168.30.201/24

# The verdict comes from watch.py, as a look at health is slow on an emulated CPU.
all_well() {
  local state
  driver_bound 0 && port_is 0 ACTIVE && read -r state <verdict && [[ $state == ready ]] && has_ipv4 ens16f0 "$truth_address"
}

# Gives adapter 0 its address, and compares each verdict with sysfs. The file contradictions says which differed.
watch_truth() {
  agent_config <<TOML
[[adapter]]
match     = { netdev = "ens16f0" }
addresses = ["$truth_address"]
TOML
  systemctl reload pvrdma-agent.service
  : >contradictions
  echo none >verdict
  python3 watch.py 0.25 verdict >>contradictions 2>&1 &
  wait_until 60 "ready, with the address" all_well
}

# A case that does not heal is counted, and the next ones are tried as well.
failures=0
failed() { # WHAT
  failures=$((failures + 1))
  echo "NOT: $1"
  pvrdma-agentctl health || true
  journalctl -u 'pvrdma-agent*' --cursor-file=cursor -o short-monotonic --no-pager
}
heals() { # SECONDS CASE
  local began look
  began=$(uptime_ms) look=$began
  until all_well; do
    if ((look - began > $1 * 1000)); then
      failed "$2: not ready again within $1 s"
      systemctl stop pvrdma-agent.service pvrdma-agent-executor.service
      systemctl reset-failed
      systemctl start pvrdma-agent-executor.socket pvrdma-agent.service
      wait_until 120 "$2: ready after a start by hand" all_well
      break
    fi
    pause_since "$began" "$look"
    look=$(uptime_ms)
  done
  [[ ! -s contradictions ]] || failed "$2: verdicts that contradict sysfs: $(sort contradictions | uniq -c)"
  : >contradictions
  echo "$2: ready after $(($(uptime_ms) - began)) ms"
}
soon() { # SECONDS COMMAND…: waits for what may not come
  local began look
  began=$(uptime_ms) look=$began
  until "${@:2}" || ((look - began > $1 * 1000)); do
    pause_since "$began" "$look"
    look=$(uptime_ms)
  done
}
units_said() { # prints the warnings and errors about the units since the last call
  journalctl -u 'pvrdma-agent*' --cursor-file=cursor -p warning -o cat --no-pager | sort | uniq -c | sed 's/^ */  /'
}
