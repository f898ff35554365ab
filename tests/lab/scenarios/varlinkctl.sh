# SPDX-License-Identifier: GPL-2.0-or-later
# summary: systemd's own varlinkctl introspects, calls and follows the agent's socket, with the same answers as pvrdma-agentctl; every user gets the metrics by systemd-report's interface
# suite: trixie
# adapters: 1
#
# systemd 257 does not find a named type inside an anonymous one, so the interface has a name for each type.

socket=/run/pvrdma-agent/io.pvrdma.Agent
call() { varlinkctl --json=short call "$socket" "$@"; } # METHOD PARAMETERS
# The parts of a health object that do not change while nothing happens.
steady() { gojq 'del(.observed_ms_ago)'; }
same_health() {
  local ours theirs
  theirs=$(call io.pvrdma.Agent.GetHealth '{}' | gojq .health | steady)
  ours=$(health | steady)
  diff <(echo "$theirs") <(echo "$ours")
}
followed() { [[ $(wc -l <followed) -ge $1 ]]; }       # NUMBER of answers
# Several answers are a JSON text sequence (RFC 7464), each after a record separator.
latest() { tail -n 1 followed | tr -d '\036' | gojq -r "$1"; }
last_state() { [[ $(latest .health.state) == "$1" ]]; }
last_port() { [[ $(latest '.health.adapters[0].port.state') == "$1" ]]; }

# Asks as systemd-report does (systemd 260), as an unprivileged user.
reported=/run/systemd/report/io.pvrdma.Agent
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
metrics() { as_nobody varlinkctl --more --json=short call "$reported" "io.systemd.Metrics.$1" '{}' | tr -d '\036'; } # METHOD
names() { gojq -r .name "$1" | sort -u; } # FILE of answers
# systemd-report accepts names of this form: the socket's name, a dot, and the name of a field.
is_named_by_socket() { ! names "$1" | grep -vE "^$(basename "$reported" | sed 's/\./\\./g')\.[A-Za-z](_?[A-Za-z0-9])*$"; } # FILE
prometheus_names() { pvrdma-agentctl metrics | sed -n 's/^pvrdma_\([a-z_]*\).*/io.pvrdma.Agent.\1/p' | sort -u; }
agent_up_is() { [[ $(metrics List | gojq 'select(.name == "io.pvrdma.Agent.agent_up").value') == "$1" ]]; }
report_ended() { ! systemctl is-active --quiet pvrdma-agent-report.service; }

metrics_for_report() {
  expect_equal "systemd-report's socket: off" disabled "$(systemctl is-enabled pvrdma-agent-report.socket || true)"
  expect_not "the socket does not exist" test -e "$reported"
  systemctl enable --now pvrdma-agent-report.socket
  expect_equal "the service runs only while it has a client" inactive "$(systemctl is-active pvrdma-agent-report.service || true)"
  metrics List >listed
  expect "each name begins with the socket's" is_named_by_socket listed
  expect_equal "the names are those that Prometheus gets" "$(prometheus_names)" "$(names listed)"
  expect "the steps of the boot are among them" grep -q boot_step_seconds listed
  expect_equal "the port of the adapter" 4 \
    "$(gojq --arg function "$(function_of 0)" 'select(.name == "io.pvrdma.Agent.port_state_id" and .object == $function).value' listed)"
  metrics Describe >described
  expect "each described name begins with the socket's" is_named_by_socket described
  expect_equal "each of Prometheus' families is described" "$(pvrdma-agentctl --json metrics | gojq -r '.metrics[].name' | sed 's/^pvrdma_/io.pvrdma.Agent./' | sort)" \
    "$(names described)"
  expect_equal "a counter is described as a counter" counter "$(gojq -r 'select(.name == "io.pvrdma.Agent.port_transitions_total").type' described)"
  varlinkctl introspect "$reported" io.systemd.Metrics >introspected
  expect "the introspected interface is valid" varlinkctl validate-idl introspected
  as_nobody varlinkctl call "$reported" io.systemd.Metrics.List '{}' >refused 2>&1 || true
  expect "a call without more is refused" grep -qi more refused
  systemctl stop pvrdma-agent.service
  expect "the metrics say that the agent does not run" agent_up_is 0
  systemctl start pvrdma-agent.service
  wait_until 30 "the agent is back" agent_up_is 1
  wait_until 40 "without a client the service exits" report_ended
  expect "the next client starts the service" agent_up_is 1
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
  expect "the introspected interface is valid" varlinkctl validate-idl introspected
  sed 's/^method GetHealth/methud GetHealth/' introspected >broken
  expect_not "a broken text is not valid" varlinkctl validate-idl broken

  wait_until 10 "GetHealth agrees with pvrdma-agentctl" same_health
  expect_equal "GetPlan agrees with pvrdma-agentctl" "$(pvrdma-agentctl --json plan | gojq .actions)" \
    "$(call io.pvrdma.Agent.GetPlan '{}' | gojq .plan.actions)"
  expect_not "an unknown method is an error" call io.pvrdma.Agent.Explode '{}'
  expect_not "a wrong parameter is an error" call io.pvrdma.Agent.GetHealth '{"colour":"red"}'
  expect_equal "WatchHealth without more answers once" ready \
    "$(call io.pvrdma.Agent.WatchHealth '{}' | gojq -r .health.state)"

  varlinkctl --more --json=short call "$socket" io.pvrdma.Agent.WatchHealth '{}' >followed 2>follow-errors &
  local follower=$!
  wait_until 20 "the first answer of WatchHealth" followed 1
  wait_until 30 "the follower sees the state ready" last_state ready
  host port 0 DOWN
  wait_until 60 "the port goes down without an event: the follower sees it" last_port DOWN
  host port 0 ACTIVE
  wait_until 60 "the follower sees the state ready again" last_state ready
  expect "the follower still runs" kill -0 "$follower"
  expect_equal "the follower has printed no error" "" "$(cat follow-errors)"
  wait_until 10 "varlinkctl and pvrdma-agentctl still agree" same_health
  kill "$follower"

  metrics_for_report
}
