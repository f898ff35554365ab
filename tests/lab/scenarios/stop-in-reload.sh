# SPDX-License-Identifier: GPL-2.0-or-later
# summary: services are stopped, the executor is killed, and the package is removed during a long reload: the driver is back each time, no function is held back
# adapters: 2
# start: snapshot
# timeout: 600
# waits: yes

slow=/etc/modprobe.d/00-slow.conf
# The load takes so long, as with a device that answers late, and ignores SIGTERM. This is a soft dependency, because
# libkmod runs no `install` command of a module that has a soft dependency.
insertion_takes() { # SECONDS
  printf '%s\n' 'softdep vmw_pvrdma pre: lab_slow' "install lab_slow trap '' TERM; sleep $1" >"$slow"
}
held_back() { grep -l pvrdma-agent /sys/bus/pci/devices/*/driver_override; }
begin_reload() {
  pvrdma-agentctl reload >reload.out 2>&1 &
  wait_until 30 "$1: the driver is unloaded" gone /sys/module/vmw_pvrdma
  expect "$1: a function is held back" held_back
}
all_is_back() { # WORD
  expect "$1: the driver is back" module_live vmw_pvrdma
  expect "$1: the driver is bound to the first function" driver_bound 0
  expect "$1: the driver is bound to the second function" driver_bound 1
  expect_not "$1: no function is held back" held_back
}
start_again() { # WORD
  systemctl start pvrdma-agent-executor.socket pvrdma-agent.service
  wait_until 60 "$1: health says ready" health_is ready
  wait_until 60 "$1: the executor is at rest" at_rest
}

executor_has_gone() { [[ $(main_pid pvrdma-agent-executor.service) != "$1" ]]; } # PID

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 60 "the executor is at rest" at_rest
  insertion_takes 40
  begin_reload stop
  systemctl stop pvrdma-agent.service pvrdma-agent-executor.socket pvrdma-agent-executor.service
  all_is_back stop
  expect "stop: the executor has counted the reload" reloads_are 1

  start_again stop
  begin_reload kill
  systemctl kill --signal=KILL pvrdma-agent-executor.service
  rm "$slow"
  wait_until 60 "kill: the agent has the driver loaded again" health_is ready
  wait_until 60 "kill: the executor is at rest" at_rest
  all_is_back kill

  insertion_takes 40
  begin_reload hold
  systemctl stop pvrdma-agent.service
  systemctl kill --signal=KILL pvrdma-agent-executor.service
  rm "$slow"
  systemctl restart pvrdma-agent-executor.service
  expect "hold: the next executor leaves the function held back, as the driver is not loaded" held_back
  start_again hold
  all_is_back hold

  # The load takes longer than systemd waits, so the executor is killed, and no other follows.
  insertion_takes 120
  begin_reload remove
  dpkg -r pvrdma-agent
  all_is_back remove
}
