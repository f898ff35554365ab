# summary: the device answers every seven seconds only, while a job registers memory and the agent is restarted: no command is cut short, no verb fails, health tells
# adapters: 1
# start: snapshot
#
# QEMU's device answers inside the register write, and its interrupt tells so at once; here the function's interrupts are
# masked but for a moment in each seven seconds, so the driver learns of an answer as late as of a busy host's. It gives a
# command up after ten seconds, and says "completion timeout or interrupted" for that, and for a signal that came first.
# What a signal does then to another process's command, which takes the late answer for its own, QEMU cannot show: its
# answer to that one is there already.

interrupts() { setpci -s "$(function_of 0)" "CAP_MSIX+3.B=$([[ $1 == held ]] && echo c0 || echo 80)"; } # held|let-in
answer_late() {
  while :; do
    interrupts held
    read -r -t 7 -u 8 || true
    interrupts let-in
  done
}
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
registered_more_than() { tail -n 3 job.out; [[ $(registered) -gt $1 ]]; } # NUMBER
says_late() { { health || true; } | grep -q 'has not answered for more than'; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 30 "and is at rest" at_rest
  udevadm settle --timeout=20
  write_job
  python3 job.py >job.out 2>&1 &
  local job=$! late restart before
  wait_until 20 "a job registers memory" registered_more_than 5
  answer_late &
  late=$!
  before=$(registered)
  systemctl restart --no-block pvrdma-agent.service
  wait_until 60 "the job goes on" registered_more_than "$((before + 2))"
  wait_until 120 "health says that the device has not answered" says_late
  expect "that is not the program's doing, so it is not asked again" [ "$(pgrep -c port-query)" -le 1 ]
  # In the middle of what it asks of the device.
  timeout 100 systemctl restart pvrdma-agent.service
  wait_until 120 "and says so again" says_late
  kill "$late"
  interrupts let-in
  wait_until 60 "answers come at once: health says ready" health_is ready
  wait_until 20 "what was left to finish has ended" sh -c '! pgrep port-query'
  expect "the job has lost nothing" kill -0 "$job"
  expect_not "no verb of its failed" grep failed job.out
  expect_equal "no command was cut short" "" "$(dmesg | grep -e 'timeout or interrupted' -e 'response .* expected' || true)"
  kill "$job"
}
