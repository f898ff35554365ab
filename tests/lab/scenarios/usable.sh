# SPDX-License-Identifier: GPL-2.0-or-later
# summary: ready means usable: the address in use has its GID; env gives applications its index, and perftest runs with it; a job goes on while GIDs change and the VM stands still
# adapters: 1
# start: snapshot
# network: yes
#
# QEMU's device knows GIDs of type IB/RoCE v1 only; on vSphere each address has one of type RoCE v2 as well.

# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh

configure() { # LINE…: the lines of the adapter's table
  printf '%s\n' '[[adapter]]' 'match = { netdev = "ens16f0" }' "$@" | agent_config
  systemctl reload pvrdma-agent.service
}
gid_index() { health_query '.adapters[0].application_gid.index'; }
index_is() { [[ $(gid_index) == "$1" ]]; }
index_in_sysfs() { # END: prints the index of the GID with this end
  local n
  for n in {0..9}; do
    if grep -qi "$1\$" "/sys/class/infiniband/rocep0s16f1/ports/1/gids/$n"; then echo "$n"; return; fi
  done
  return 1
}

# What a job and the agent see of a vMotion, a suspended VM and a snapshot, as far as the lab has it: GIDs change, and the VM
# stands still until open-vm-tools sets the clock.
job_goes_on() {
  local reloads pid
  reloads=$(ledger .reloads) pid=$(agent_pid)
  start_job 0
  ip address add 192.168.30.77/24 dev ens16f0
  wait_until 15 "a third address has a GID" index_in_sysfs c0a8:1e4d
  ip address del 192.168.30.77/24 dev ens16f0
  wait_until 15 "the running job is told that GIDs change" grep -qE "GID_CHANGE|GID table" events
  host stun 2
  date -s '+10 minutes' >/dev/null
  expect "the agent's answer after that is fresh" sh -c "pvrdma-agentctl --json health | gojq -e '.observed_ms_ago < 2000 and .state == \"ready\"'"
  holds_for 5 "the driver is not reloaded" reloads_are "$reloads"
  expect_equal "the agent was not restarted" "$pid" "$(agent_pid)"
  expect "the job still runs" grep -q '^State:.[SR]' "/proc/$job/status"
  kill "$job"
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect_equal "without an address there is no GID for applications" null "$(gid_index)"
  expect "env without an address prints devices" sh -c "pvrdma-agentctl env 2>gap | grep -q NCCL_IB_HCA"
  expect "env says that there is no address" grep -q "no address" gap
  expect_not "env prints no index" sh -c "pvrdma-agentctl env | grep GID_INDEX"

  follow_guide ubuntu usable
  wait_until 15 "the address has a GID" index_in_sysfs c0a8:1ec9
  wait_until 15 "health names its index" index_is "$(index_in_sysfs c0a8:1ec9)"
  wait_until 15 "health says ready" health_is ready
  pvrdma-agentctl env
  eval "$(pvrdma-agentctl env)"
  expect_equal "for NCCL" "=rocep0s16f1:1 $(gid_index)" "$NCCL_IB_HCA $NCCL_IB_GID_INDEX"
  expect_equal "the index in JSON" "$NCCL_IB_GID_INDEX" "$(pvrdma-agentctl env --json | gojq -r .NCCL_IB_GID_INDEX)"
  pvrdma-agentctl env --format systemd ens16f0 >/run/rdma.env
  expect_equal "the variable as systemd reads it" "$PERFTEST_ARGS" \
    "$(systemd-run --quiet --pipe --wait -p EnvironmentFile=/run/rdma.env sh -c 'echo "$PERFTEST_ARGS"')"
  # shellcheck disable=SC2086  # The variable holds several words.
  bandwidth $PERFTEST_ARGS

  # The GID of the first address goes, and comes back after that of the second.
  local before status
  before=$(gid_index)
  ip address add 192.168.30.9/24 dev ens16f0
  wait_until 15 "the second address has a GID" index_in_sysfs c0a8:1e09
  configure 'addresses = ["192.168.30.9/24"]'
  wait_until 20 "applications get the GID of the other address" sh -c "pvrdma-agentctl health --json | gojq -e '.adapters[0].application_gid.address == \"192.168.30.9\"'"
  expect "that GID has another index" [ "$before" != "$(gid_index)" ]
  wait_until 10 "the journal says so" sh -c "journalctl -u pvrdma-agent -o cat | grep 'GID for applications of 0000:00:10.1 is index'"
  wait_until 15 "health says ready" health_is ready
  job_goes_on

  configure 'addresses = ["192.168.30.9/24"]' 'gid_type = "RoCE v2"'
  wait_until 20 "a type that the device does not offer is a finding" finding gid-missing
  expect "the adapter is not ready" grep -qxE 'converging|degraded' <(health_state)
  status=0
  pvrdma-agentctl env >env.out 2>&1 || status=$?
  expect_equal "env fails" 1 "$status"
  expect "env says so" grep -q 'no adapter is ready' env.out
  configure 'addresses = ["192.168.30.9/24"]' 'gid_type = "RoCE v1"'
  wait_until 20 "with a type that the device offers: ready" health_is ready
}
