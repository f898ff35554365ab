# SPDX-License-Identifier: GPL-2.0-or-later
# summary: selftest: passes on the real driver, also beside jobs, releases everything, and its failures name the step and who has to act; on rdma_rxe too
# adapters: 1
# cpus: 2
# start: snapshot
# timeout: 720
#
# On one CPU the test never waits for a completion, and a part of this scenario is about a test that waits.
# QEMU's device carries out a send for an RDMA write; vSphere's device, and rdma_rxe here, do the write.

as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
# The time is for an emulated CPU on a busy machine.
ctl=(pvrdma-agentctl selftest --timeout 60s)
selftest() { # ARGUMENT…: exit status in $status, output in ./out and ./complaint
  status=0
  "${ctl[@]}" "$@" >out 2>complaint || status=$?
  cat out complaint
}
held() { cat /sys/module/vmw_pvrdma/refcnt; rdma resource; } # the users of the driver and of its devices
released() { diff before <(held); }
of_first() { gojq -r ".devices[0] | $1" answer.json; }
says() { grep -qF -- "$1" out; } # TEXT

passes() {
  held >before
  selftest
  expect_equal "every adapter is tested, and passes" 0 "$status"
  expect "the output has the device and the GID of the IPv4 address" sh -c 'grep "^rocep0s16f1: passed" out && grep "GID .*::ffff:192.168.30.201" out'
  wait_until 5 "everything is released" released
  local name
  for name in rocep0s16f1 ens16f0 "$(function_of 0)"; do
    "${ctl[@]}" --json "$name" >answer.json
    expect_equal "$name: device, passed, data, failure" "rocep0s16f1 true true null" \
      "$(of_first '[.device, .passed, .send_receive, .failure] | map(tostring) | join(" ")')"
  done
  expect_equal "the RDMA write on QEMU's device" "false it carries out a send instead" \
    "$(of_first '.rdma_write | "\(.offered) \(.why_not)"')"
  expect "1000 rounds, with figures in order" gojq -e '.devices[0].latency | .rounds == 1000 and .median_us > 0
    and .median_us <= .p99_us and .p99_us <= .max_us' answer.json
  gojq -c '.devices[0] | .latency, .took_ms' answer.json
  as_nobody "${ctl[@]}" --json >answer.json
  expect_equal "the limit of locked memory of the user nobody; root has none" "$(as_nobody sh -c 'ulimit -l') true" \
    "$(of_first '"\(.memlock_bytes / 1024) \(.passed)"')"
  wait_until 5 "everything of these tests is released" released
}

beside_jobs() {
  start_job 0
  pingpong -d rocep0s16f1 -g "$(of_first .gid.index)" &
  traffic=$!
  # Two polling processes take turns on an emulated CPU; on a busy machine a round took 57 s.
  wait_until 150 "traffic goes on" more_rounds 0
  selftest
  expect_equal "beside an open context and traffic: passed" 0 "$status"
  wait_until 150 "traffic still goes on" more_rounds "$(rounds)"
  expect "no round of traffic failed" [ ! -e failed ]
  kill "$traffic" "$job"
  wait "$traffic" "$job" || true
  pkill -x ibv_rc_pingpong || true # A server may be left without a client.
  expect_equal "the job has seen no event" 0 "$(grep -c 'event_type' events || true)"
  wait_until 30 "the traffic's processes end" sh -c '! pidof ibv_rc_pingpong'
  wait_until 10 "no context is left" sh -c '! rdma resource show ctx dev rocep0s16f1 | grep -q pid'
}

lacks_memory() { # BYTES FAILURE WORDS: the bytes that may be locked, the failure, and the limit in the output
  status=0
  prlimit --memlock="$1:$1" setpriv --reuid nobody --regid nogroup --clear-groups "${ctl[@]}" >out 2>complaint || status=$?
  cat out complaint
  expect_equal "with $1 bytes of lockable memory: failed" 2 "$status"
  expect "the output has the step and the reason" says "rocep0s16f1: failed at $2"
  expect "the output has the limit" says "at most $3 for this process"
  expect "the output says who has to raise it, and where" grep -q "guest .*LimitMEMLOCK=infinity" <(tr -s '\n ' ' ' <out)
  wait_until 5 "everything is released" released
}

lacks_libraries() {
  local folder=/usr/lib/x86_64-linux-gnu provider
  provider=$(echo $folder/libibverbs/libvmw_pvrdma-rdmav*.so)
  mv "$provider" kept.so
  selftest
  mv kept.so "$provider"
  expect_equal "without the provider: failed" 2 "$status"
  expect "the output names the step" says "failed at finding the device"
  expect "the output names the package" grep -q "image .*ibverbs-providers" <(tr -s '\n ' ' ' <out)
  mv $folder/libibverbs.so.1 kept.so
  selftest
  mv kept.so $folder/libibverbs.so.1
  expect_equal "without libibverbs: exit code, lines" "3 0 1" "$status $(wc -l <out) $(wc -l <complaint)"
  expect "the message names the packages" grep -q "libibverbs.so.1.*Install libibverbs1 and ibverbs-providers" complaint
  selftest nosuch0
  expect_equal "no such device: exit code, line" "3 pvrdma-agentctl: there is no adapter or RDMA device nosuch0" \
    "$status $(cat complaint)"
}

# The parent of the test is killed in the middle of the test. strace makes the delay.
interrupted() {
  strace -f -qq -o trace -e trace=poll -e inject=poll:delay_enter=60s "${ctl[@]}" >out 2>&1 &
  local strace=$!
  wait_until 30 "the test holds the device" sh -c "rdma resource show ctx | grep selftest"
  pkill -KILL -P "$strace" # Only the test is killed: the scenario may be watching health by another pvrdma-agentctl.
  wait_until 40 "the test releases the device with the end of its parent, not at the end of the delay" released
}

port_down() {
  systemctl stop pvrdma-agent.service # Otherwise it would try to bring the port up.
  host port 0 DOWN
  wait_until 10 "the port is DOWN" port_is 0 DOWN
  selftest
  expect_equal "port down: failed" 2 "$status"
  expect "the output says so" says "failed at asking for port 1: it is DOWN"
  host port 0 ACTIVE
  wait_until 10 "the port is ACTIVE" port_is 0 ACTIVE
  selftest
  expect_equal "the test passes again" 0 "$status"
  wait_until 5 "everything is released" released
}

on_rxe() {
  expect "Debian's kernel ships rdma_rxe" modprobe --dry-run rdma_rxe
  ip link add rxe-link type dummy
  ip addr add 192.168.77.1/24 dev rxe-link
  ip link set rxe-link up
  rdma link add rxe0 type rxe netdev rxe-link
  udevadm settle --timeout=20
  selftest rxe0
  expect_equal "rdma_rxe passes" 0 "$status"
  expect "the output has the RDMA write" grep -q "RDMA write *16 KiB, data as written" out
  expect "over RoCE v2" grep -q "GID .*::ffff:192.168.77.1, RoCE v2" out
  ip link set rxe-link down
  selftest rxe0
  expect_equal "its link down: failed" 2 "$status"
  expect "the output says so" says "rxe0: failed at asking for port 1: it is DOWN"
  rdma link delete rxe0
  ip link delete rxe-link
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  ip addr add 192.168.30.201/24 dev ens16f0
  wait_until 15 "the address has its GID" sh -c "grep -qi c0a8:1ec9 /sys/class/infiniband/rocep0s16f1/ports/1/gids/*"
  wait_until 10 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  passes
  lacks_memory 0 "registering memory: 65536 bytes: Operation not permitted" "0 bytes"
  lacks_memory 32768 "registering memory: 65536 bytes: Cannot allocate memory" "32 KiB"
  lacks_memory 65536 "creating a completion queue: Cannot allocate memory" "64 KiB"
  lacks_libraries
  interrupted
  on_rxe
  port_down
  beside_jobs
  expect "no context is left: modprobe -r succeeds" timeout 30 modprobe -r vmw_pvrdma
}
