# SPDX-License-Identifier: GPL-2.0-or-later
# summary: systemd's own varlinkctl introspects the agent's socket, calls it and follows it, and says what pvrdma-agentctl says; anyone gets the metrics by systemd-report's interface
# suite: trixie
# adapters: 1
#
# systemd 257 finds no named type inside an anonymous one, so the interface has a name for each.

socket=/run/pvrdma-agent/io.pvrdma.Agent
call() { varlinkctl --json=short call "$socket" "$@"; } # METHOD PARAMETERS
# What of a health object does not change while nothing happens.
steady() { gojq 'del(.observed_ms_ago)'; }
same_health() {
  local ours theirs
  theirs=$(call io.pvrdma.Agent.GetHealth '{}' | gojq .health | steady)
  ours=$(health | steady)
  diff <(echo "$theirs") <(echo "$ours")
}
followed() { [[ $(wc -l <followed) -ge $1 ]]; }       # NUMBER of answers
# Several answers are a JSON text sequence (RFC 7464), each behind a record separator.
latest() { tail -n 1 followed | tr -d '\036' | gojq -r "$1"; }
last_state() { [[ $(latest .health.state) == "$1" ]]; }
last_port() { [[ $(latest '.health.adapters[0].port.state') == "$1" ]]; }

# As systemd-report asks (systemd 260), by a user who may do nothing.
reported=/run/systemd/report/io.pvrdma.Agent
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
metrics() { as_nobody varlinkctl --more --json=short call "$reported" "io.systemd.Metrics.$1" '{}' | tr -d '\036'; } # METHOD
names() { gojq -r .name "$1" | sort -u; } # FILE of answers
# What systemd-report takes of a name: the socket's, a dot, and a field's.
is_named_by_socket() { ! names "$1" | grep -vE "^$(basename "$reported" | sed 's/\./\\./g')\.[A-Za-z](_?[A-Za-z0-9])*$"; } # FILE
prometheus_names() { pvrdma-agentctl metrics | sed -n 's/^pvrdma_\([a-z_]*\).*/io.pvrdma.Agent.\1/p' | sort -u; }
agent_up_is() { [[ $(metrics List | gojq 'select(.name == "io.pvrdma.Agent.agent_up").value') == "$1" ]]; }
report_ended() { ! systemctl is-active --quiet pvrdma-agent-report.service; }

metrics_for_report() {
  expect_equal "systemd-report's socket: off" disabled "$(systemctl is-enabled pvrdma-agent-report.socket || true)"
  expect_not "and not there" test -e "$reported"
  systemctl enable --now pvrdma-agent-report.socket
  expect_equal "the service runs for whoever asks" inactive "$(systemctl is-active pvrdma-agent-report.service || true)"
  metrics List >listed
  expect "each name is the socket's" is_named_by_socket listed
  expect_equal "as many as Prometheus gets, by the same names" "$(prometheus_names)" "$(names listed)"
  expect "the boot's steps among them" grep -q boot_step_seconds listed
  expect_equal "the port of the adapter" 4 \
    "$(gojq --arg function "$(function_of 0)" 'select(.name == "io.pvrdma.Agent.port_state_id" and .object == $function).value' listed)"
  metrics Describe >described
  expect "what is described has the socket's name" is_named_by_socket described
  expect_equal "each of Prometheus' families is" "$(pvrdma-agentctl --json metrics | gojq -r '.metrics[].name' | sed 's/^pvrdma_/io.pvrdma.Agent./' | sort)" \
    "$(names described)"
  expect_equal "as what it is" counter "$(gojq -r 'select(.name == "io.pvrdma.Agent.port_transitions_total").type' described)"
  varlinkctl introspect "$reported" io.systemd.Metrics >introspected
  expect "what is introspected is valid" varlinkctl validate-idl introspected
  as_nobody varlinkctl call "$reported" io.systemd.Metrics.List '{}' >refused 2>&1 || true
  expect "who does not ask for more is told to" grep -qi more refused
  systemctl stop pvrdma-agent.service
  expect "an agent that does not run is a value" agent_up_is 0
  systemctl start pvrdma-agent.service
  wait_until 30 "and it is back" agent_up_is 1
  wait_until 40 "when nobody asks, the service ends" report_ended
  expect "and for the next who asks it is there" agent_up_is 1
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_boot
  varlinkctl info "$socket"
  expect "info names the program" sh -c "varlinkctl info $socket | grep -q 'pvrdma-agent'"
  expect_equal "info has its version" "$(pvrdma-agentctl --version | awk '{ print $NF }')" \
    "$(varlinkctl --json=short info "$socket" | gojq -r .version)"
  expect_equal "the interfaces" "io.pvrdma.Agent org.varlink.service" \
    "$(varlinkctl list-interfaces "$socket" | sort | xargs)"

  varlinkctl introspect "$socket" io.pvrdma.Agent >introspected
  expect "every method is introspected" sh -c 'for m in GetHealth WatchHealth GetPlan Refresh Reload; do grep -q "method $m" introspected || exit; done'
  expect "what is introspected is valid" varlinkctl validate-idl introspected
  sed 's/^method GetHealth/methud GetHealth/' introspected >broken
  expect_not "which a broken text is not" varlinkctl validate-idl broken

  wait_until 10 "GetHealth says what pvrdma-agentctl says" same_health
  expect_equal "GetPlan too" "$(pvrdma-agentctl --json plan | gojq .actions)" \
    "$(call io.pvrdma.Agent.GetPlan '{}' | gojq .plan.actions)"
  expect_not "an unknown method is an error" call io.pvrdma.Agent.Explode '{}'
  expect_not "and a wrong parameter" call io.pvrdma.Agent.GetHealth '{"colour":"red"}'
  expect_equal "WatchHealth answers once who does not ask for more" ready \
    "$(call io.pvrdma.Agent.WatchHealth '{}' | gojq -r .health.state)"

  varlinkctl --more --json=short call "$socket" io.pvrdma.Agent.WatchHealth '{}' >followed 2>follow-errors &
  local follower=$!
  wait_until 20 "the first answer of WatchHealth" followed 1
  wait_until 30 "it is ready" last_state ready
  host port 0 DOWN
  wait_until 60 "the port goes down, of which no event tells: the follower is told" last_port DOWN
  host port 0 ACTIVE
  wait_until 60 "and that it is back" last_state ready
  expect "it still follows" kill -0 "$follower"
  expect_equal "without a complaint" "" "$(cat follow-errors)"
  wait_until 10 "both still agree" same_health
  kill "$follower"

  metrics_for_report
}
