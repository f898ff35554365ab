# SPDX-License-Identifier: GPL-2.0-or-later
# summary: dozens of link flaps, 20 flaps of the port by the host, a jump of the clock: ready after each, nothing leaked, all changes counted
# adapters: 2
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-300}

flap_links() { # ROUNDS: both links, faster than the agent can react
  local round
  for ((round = 0; round < $1; round++)); do
    ip link set ens16f0 down
    ip link set ens17f0 down
    ip link set ens16f0 up
    ip link set ens17f0 up
  done
}
addresses() { ip -o -4 address show | awk '{ print $2, $4 }' | sort; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  ip address add 192.168.30.201/24 dev ens16f0
  wait_until 30 "the executor is at rest" at_rest
  flap_links 5
  wait_until 30 "a first few flaps: ready" health_is ready
  wait_until 30 "at rest" at_rest
  local counted addresses_before
  counted=$(port_transitions) addresses_before=$(addresses)
  leaks_begin

  flap_links $((10 * ${PVRDMA_LAB_ROUNDS:-4}))
  wait_until 30 "dozens of link flaps: ready" health_is ready
  pause_ms 3000 # The look after the last event has ended, so from now on only the host changes ports.
  local round port counted_before_host
  counted_before_host=$(port_transitions)
  RANDOM=20 # The flaps are the same in each run.
  for round in {1..20}; do
    port=$((RANDOM % 2))
    host_sets_port $port DOWN
    host_sets_port $port ACTIVE
  done
  wait_until 60 "20 flaps of the port by the host: ready" health_is ready
  expect "the agent has seen flaps of the host: $counted_before_host changes before, $(port_transitions) now" \
    [ "$(port_transitions)" -gt "$counted_before_host" ]
  date -s '+2 days' >/dev/null
  flap_links 1
  wait_until 30 "the clock jumps ahead: ready" health_is ready
  date -s '-3 days' >/dev/null
  flap_links 1
  wait_until 30 "the links flap again: ready" health_is ready

  wait_until 60 "the executor is at rest again" at_rest
  wait_until 20 "ready" health_is ready
  expect "changes of the port are counted: $counted before, $(port_transitions) now" [ "$(port_transitions)" -gt "$counted" ]
  leaks_end
  expect_equal "no address is lost" "$addresses_before" "$(addresses)"
  expect "the driver was never reloaded" [ "$(ledger .reloads)" = 0 ]
}
