# SPDX-License-Identifier: GPL-2.0-or-later
# summary: services stopped, the executor killed, and the package removed in the middle of a reload that takes long: the driver is back each time, no function is held back
# adapters: 2
# start: snapshot
# timeout: 600

slow=/etc/modprobe.d/00-slow.conf
# The reload's insertion takes its time, as where the device answers late, whatever it is told. A soft dependency, as
# libkmod runs no `install` command of a module that has one.
insertion_takes() { # SECONDS
  printf '%s\n' 'softdep vmw_pvrdma pre: lab_slow' "install lab_slow trap '' TERM; sleep $1" >"$slow"
}
held_back() { grep -l pvrdma-agent /sys/bus/pci/devices/*/driver_override; }
begin_reload() {
  pvrdma-agentctl reload >reload.out 2>&1 &
  wait_until 30 "$1: the driver is out" gone /sys/module/vmw_pvrdma
  expect "$1: a function is held back" held_back
}
all_is_back() { # WORD
  expect "$1: the driver is back" module_live vmw_pvrdma
  expect "$1: for both functions" driver_bound 0
  expect "$1: and the second" driver_bound 1
  expect_not "$1: no function is held back" held_back
}
start_again() { # WORD
  systemctl start pvrdma-agent-executor.socket pvrdma-agent.service
  wait_until 60 "$1: health says ready" health_is ready
  wait_until 60 "$1: and is at rest" at_rest
}

executor_has_gone() { [[ $(main_pid pvrdma-agent-executor.service) != "$1" ]]; } # PID

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 60 "and is at rest" at_rest
  insertion_takes 40
  begin_reload stop
  systemctl stop pvrdma-agent.service pvrdma-agent-executor.socket pvrdma-agent-executor.service
  all_is_back stop

  start_again stop
  begin_reload kill
  systemctl kill --signal=KILL pvrdma-agent-executor.service
  rm "$slow"
  wait_until 60 "kill: the agent has it brought back" health_is ready
  wait_until 60 "kill: and is at rest" at_rest
  all_is_back kill

  # Longer than systemd waits: it is killed, and no other executor follows.
  insertion_takes 120
  begin_reload remove
  dpkg -r pvrdma-agent
  all_is_back remove
}
