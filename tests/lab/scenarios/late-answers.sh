# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the device answers 3.5 s late, a job registers memory, the agent is restarted and stopped: no signal ends a wait for an answer, no verb of the job fails, health answers at once; a probe that takes long is not misread
# adapters: 1
# start: snapshot
#
# vmw_pvrdma waits for an answer for ten seconds at most. A signal ends that wait: the driver says "completion timeout or
# interrupted". The late answer then comes to the next command, which may be another process's: the driver says "unknown response",
# and that process's verb fails.

write_job() {
cat >job.py <<'P'
import ctypes, mmap, sys
v = ctypes.CDLL("libibverbs.so.1", use_errno=True)
for name in ("ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd", "ibv_reg_mr"):
    getattr(v, name).restype = ctypes.c_void_p
devices = ctypes.cast(v.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))
context = v.ibv_open_device(ctypes.c_void_p(devices[0]))
pd = v.ibv_alloc_pd(ctypes.c_void_p(context))
page = mmap.mmap(-1, 4096)
memory = ctypes.addressof(ctypes.c_char.from_buffer(page))
while True:
    region = v.ibv_reg_mr(ctypes.c_void_p(pd), ctypes.c_void_p(memory), ctypes.c_size_t(4096), 1)
    if not region:
        print("failed", ctypes.get_errno(), flush=True)
        sys.exit(1)
    v.ibv_dereg_mr(ctypes.c_void_p(region))
    print("registered", flush=True)
P
}
registered() { grep -c registered job.out; }
registered_more_than() { [[ $(registered) -gt $1 ]]; } # NUMBER
asked= # the process of the agent's that asked the device last
asks_anew() {
  local newest
  newest=$(pgrep -n -x port-query) && [[ $newest != "$asked" ]] && asked=$newest
}
asks_no_more() { ! pgrep -x port-query; }
nothing_spoiled() { # WHEN
  expect_not "$1: no verb of the job has failed" grep failed job.out
  expect_not "$1: no command was cut short" sh -c 'dmesg | grep -e "timeout or interrupted" -e "unknown response"'
}
look_is_young() {
  local answer
  answer=$(timeout 2 pvrdma-agentctl --json health | gojq .observed_ms_ago)
  echo "the last look is $answer ms old"
  [[ -n $answer && $answer -lt 20000 ]]
}

bind_took_ms() { ledger '[.attempts[] | select(.verb == "BindFunction") | .finished_ms - .started_ms] | max'; }
# A function is bound from the start of its probe, and has its RDMA device only at the end.
slow_probe() {
  systemctl stop pvrdma-agent.service
  echo "$(function_of 0)" >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  answers_late 3500
  systemctl start --no-block pvrdma-agent.service # The unit is up only after the probe.
  wait_until 20 "the executor binds the function" health_query -e .executor.busy.call
  pvrdma-agentctl --json watch >verdicts &
  wait_until 60 "the probe ends" test -e "/sys/bus/pci/devices/$(function_of 0)/infiniband"
  answers_late 0
  wait_until 60 "health says ready" health_is ready
  kill $!
  expect "the probe has taken longer than other changes: $(bind_took_ms) ms" [ "$(bind_took_ms)" -gt 4000 ]
  expect_equal "the only verdict meanwhile" converging "$(gojq -r 'select(.state != "ready") | .state' verdicts | sort -u)"
  expect_not "the RDMA device was not taken for one in another namespace" grep netdev-elsewhere verdicts
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  udevadm settle --timeout=20
  write_job
  nice -n 19 python3 job.py >job.out 2>&1 &
  local job=$! before
  wait_until 20 "a job registers memory" registered_more_than 5
  answers_late 3500
  before=$(registered)
  timeout 60 systemctl restart pvrdma-agent.service
  wait_until 30 "restarted, the agent asks the device" asks_anew
  wait_until 30 "and goes on without the answer: health says so" finding verbs-unusable
  holds_for 2 "health answers at once, the last look is young" look_is_young
  nothing_spoiled "its patience has passed"

  expect "it still asks" kill -0 "$asked"
  timeout 60 systemctl restart pvrdma-agent.service
  wait_until 30 "restarted while it asks, it asks anew" asks_anew
  timeout 60 systemctl stop pvrdma-agent.service
  expect "stopped while it asks, it still asks" kill -0 "$asked"
  wait_until 30 "what it has asked comes to its end" asks_no_more
  nothing_spoiled "restarted and stopped"
  expect "the job has gone on" registered_more_than "$((before + 2))"

  answers_late 0
  systemctl start pvrdma-agent.service
  wait_until 60 "answers come at once: health says ready" health_is ready
  expect "the job still runs" kill -0 "$job"
  nothing_spoiled "in the end"
  kill "$job"
  wait "$job" || true
  slow_probe
}
