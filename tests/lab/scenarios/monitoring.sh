# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a real node_exporter and a real Prometheus have the metrics, and alert if the agent died, hangs or never ran
# programs: prometheus prometheus-node-exporter
# start: snapshot
# timeout: 400
# waits: yes

folder=/var/lib/prometheus/node-exporter

start_exporter() {
  echo 'u prometheus - "Prometheus" /var/lib/prometheus' | systemd-sysusers -
  mkdir -p "$folder" /var/lib/prometheus/metrics2
  chown prometheus: /var/lib/prometheus/metrics2
  # On an emulated CPU its other collectors would take longer than a scrape may.
  echo 'ARGS="--collector.disable-defaults --collector.textfile"' >/etc/default/prometheus-node-exporter
  systemctl start prometheus-node-exporter.service
}
# The tests of the rules cover their waiting times; here the alerts fire at once.
start_prometheus() {
  sed -E 's/for: [0-9]+m$/for: 1s/' /usr/share/pvrdma-agent/monitoring/rules.yml >/etc/prometheus/rules.yml
  cat >/etc/prometheus/prometheus.yml <<'YAML'
global: { scrape_interval: 4s, scrape_timeout: 4s, evaluation_interval: 2s }
rule_files: [rules.yml]
scrape_configs:
  - job_name: node
    static_configs:
      - targets: ["127.0.0.1:9100"]
        labels: { pvrdma: "true" }
YAML
  systemctl start prometheus.service
  wait_until 90 "Prometheus answers" asked up
}
http() ( # PORT PATH
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&3
  sed '1,/^\r$/d' <&3
)
ask() { http 9090 "/api/v1/query?query=$(gojq -rnR '[inputs] | join("\n") | @uri' <<<"$1")" 2>&1; } # QUERY
asked() { ask "$1" | gojq -e '.data.result | length > 0' >/dev/null 2>&1; } # QUERY: it has a result
alert_is() { asked "ALERTS{alertname=\"$1\",alertstate=\"firing\"}"; }
alert_ended() { asked "absent(ALERTS{alertname=\"$1\",alertstate=\"firing\"})"; }

scenario() {
  use_programs
  start_exporter
  start_prometheus
  wait_until 30 "an alert fires for a machine that should have metrics and never had any" alert_is PvrdmaMetricsMissing
  wait_until 60 "health says ready" health_is ready
  # Hardening guides want this.
  sysctl user.max_user_namespaces=0
  systemctl start pvrdma-agent-metrics.service
  wait_until 30 "the state is in Prometheus" asked 'pvrdma_state{state="ready"} == 1'
  wait_until 30 "the alert ends" alert_ended PvrdmaMetricsMissing
  expect "the exporter has no complaint" asked 'node_textfile_scrape_error == 0'
  # tests/check/monitoring asks its queries.
  expect "the package has the dashboard" gojq -e '.panels | length > 0' /usr/share/pvrdma-agent/monitoring/dashboard.json

  host port 0 DOWN
  wait_until 60 "an alert fires for a port that is down" alert_is PvrdmaPortDown
  host port 0 ACTIVE
  wait_until 60 "the port is back: the alert ends" alert_ended PvrdmaPortDown

  systemctl kill --signal=STOP --kill-whom=main pvrdma-agent.service
  wait_until 120 "an alert fires for an agent that hangs" alert_is PvrdmaAgentDown
  systemctl kill --signal=CONT --kill-whom=main pvrdma-agent.service
  wait_until 120 "the agent answers: the alert ends" alert_ended PvrdmaAgentDown
  systemctl stop pvrdma-agent.service
  wait_until 60 "an alert fires for an agent that does not run" alert_is PvrdmaAgentDown
  expect "the state of its adapters is unknown" asked 'pvrdma_state{state="unknown"} == 1'
  systemctl stop pvrdma-agent-metrics.service
  expect_not "no old metrics are left to read" test -e "$folder/pvrdma.prom" -o -L "$folder/pvrdma.prom"

  mount -t tmpfs none "$folder"
  touch "$folder/pvrdma.prom"
  mount -o remount,ro "$folder"
  expect "read-only: the service starts" systemctl start pvrdma-agent-metrics.service
  expect "read-only: the metrics can be read in /run" test -s /run/pvrdma-agent-metrics/pvrdma.prom
  systemctl stop pvrdma-agent-metrics.service
  expect "read-only: the stop is no failure" unit_is pvrdma-agent-metrics.service inactive
  umount "$folder"
}
