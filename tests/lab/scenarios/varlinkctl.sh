# summary: systemd's own varlinkctl introspects the agent's socket, calls it and follows it, and says what pvrdma-agentctl says
# suite: trixie
# adapters: 1
#
# systemd 257 finds no named type inside an anonymous one, so the interface has a name for each.

socket=/run/pvrdma-agent/io.pvrdma.Agent
call() { varlinkctl --json=short call "$socket" "$@"; } # METHOD PARAMETERS
# What of a health object does not change while nothing happens.
steady() { jq -S 'del(.observed_ms_ago)'; }
same_health() {
  local ours theirs
  theirs=$(call io.pvrdma.Agent.GetHealth '{}' | jq .health | steady)
  ours=$(health | steady)
  diff <(echo "$theirs") <(echo "$ours")
}
followed() { [[ $(wc -l <followed) -ge $1 ]]; }       # NUMBER of answers
# Several answers are a JSON text sequence (RFC 7464), each behind a record separator.
latest() { tail -n 1 followed | tr -d '\036' | jq -r "$1"; }
last_state() { [[ $(latest .health.state) == "$1" ]]; }
last_port() { [[ $(latest '.health.adapters[0].port.state') == "$1" ]]; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_boot
  varlinkctl info "$socket"
  expect "info names the program" sh -c "varlinkctl info $socket | grep -q 'pvrdma-agent'"
  expect_equal "info has its version" "$(pvrdma-agentctl --version | awk '{ print $NF }')" \
    "$(varlinkctl --json=short info "$socket" | jq -r .version)"
  expect_equal "the interfaces" "io.pvrdma.Agent org.varlink.service" \
    "$(varlinkctl list-interfaces "$socket" | sort | xargs)"

  varlinkctl introspect "$socket" io.pvrdma.Agent >introspected
  expect "every method is introspected" sh -c 'for m in GetHealth WatchHealth GetPlan Refresh Reload; do grep -q "method $m" introspected || exit; done'
  expect "what is introspected is valid" varlinkctl validate-idl introspected
  sed 's/^method GetHealth/methud GetHealth/' introspected >broken
  expect_not "which a broken text is not" varlinkctl validate-idl broken

  wait_until 10 "GetHealth says what pvrdma-agentctl says" same_health
  expect_equal "GetPlan too" "$(pvrdma-agentctl --json plan | jq -S .actions)" \
    "$(call io.pvrdma.Agent.GetPlan '{}' | jq -S .plan.actions)"
  expect_not "an unknown method is an error" call io.pvrdma.Agent.Explode '{}'
  expect_not "and a wrong parameter" call io.pvrdma.Agent.GetHealth '{"colour":"red"}'
  expect_equal "WatchHealth answers once who does not ask for more" ready \
    "$(call io.pvrdma.Agent.WatchHealth '{}' | jq -r .health.state)"

  varlinkctl --more --json=short call "$socket" io.pvrdma.Agent.WatchHealth '{}' >followed 2>follow-errors &
  local follower=$!
  wait_until 20 "the first answer of WatchHealth" followed 1
  wait_until 30 "it is ready" last_state ready
  host port 0 DOWN
  wait_until 30 "the port goes down: the follower is told" last_port DOWN
  host port 0 ACTIVE
  wait_until 60 "and that it is back" last_state ready
  expect "it still follows" kill -0 "$follower"
  expect_equal "without a complaint" "" "$(cat follow-errors)"
  wait_until 10 "both still agree" same_health
  kill "$follower"
}
