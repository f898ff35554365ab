# SPDX-License-Identifier: GPL-2.0-or-later
# summary: SIGKILL at points spread over a bring-up: the agent converges each time, and does nothing twice
# adapters: 1
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-400}

all_down() {
  modprobe -r vmw_pvrdma
  modprobe -r rdma_ucm rdma_cm ib_umad 2>/dev/null || true
  ip link set ens16f0 down
}

# In this round each operation was done at most once. An attempt that the kill left open counts as done.
nothing_doubled() {
  gojq -e --argjson t "$1" '[.attempts[] | select(.started_ms >= $t and (.outcome == "done" or .finished_ms == null)) | .verb + " " + .target]
    | length == (unique | length)' /run/pvrdma-agent-executor/ledger.json
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  local began span point pid killed=0 points=${PVRDMA_LAB_ROUNDS:-4}
  systemctl stop pvrdma-agent.service
  all_down
  began=$(uptime_ms)
  systemctl start --no-block pvrdma-agent.service
  wait_until 30 "an undisturbed bring-up" port_is 0 ACTIVE
  span=$(($(uptime_ms) - began))
  for ((point = 1; point <= points; point++)); do
    systemctl stop pvrdma-agent.service
    all_down
    began=$(uptime_ms)
    systemctl start --no-block pvrdma-agent.service
    until (($(uptime_ms) - began >= span * point / (points + 1))); do pause_ms 50; done
    pid=$(agent_pid)
    if [[ $pid != 0 ]] && ! port_is 0 ACTIVE && kill -KILL "$pid"; then killed=$((killed + 1)); fi
    wait_until 60 "point $point of $points ($((span * point / (points + 1))) ms, PID $pid): the port is ACTIVE" port_is 0 ACTIVE
    wait_until 20 "point $point: health says ready" health_is ready
    expect "point $point: no operation was done twice" nothing_doubled "$began"
  done
  expect "$killed of $points kills met a bring-up" [ "$killed" -ge $((points - 1)) ]
  expect_equal "reloads" 0 "$(health_query .executor.reloads)"
}
