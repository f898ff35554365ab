# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a real slurmctld and slurmd: the example of a health check drains the node when the port goes down, resumes it when it has been ready for a while, and does not end the administrator's drains
# adapters: 1
# programs: slurmctld slurmd slurm-client
# start: snapshot
# timeout: 400

# shellcheck source=tests/lab/guest/slurm.sh
. /run/lab/slurm.sh
# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh
start_slurm() {
  use_programs
  follow_guide hpc slurm
  # Slurm resolves no address on a machine that has only 127.0.0.1 (AI_ADDRCONFIG of getaddrinfo(3)).
  ip address add 192.0.2.1/32 dev lo
  # By default a node must have been ready for five minutes.
  printf '%s\n' '#!/bin/sh' 'export PVRDMA_CALM_S=15' 'exec /usr/local/sbin/slurm-health-check' |
    install -m 755 /dev/stdin /usr/local/sbin/health-check
  configure_slurm <<CONF
SlurmctldHost=$(hostname -s)(192.0.2.1)
HealthCheckProgram=/usr/local/sbin/health-check
HealthCheckInterval=3
HealthCheckNodeState=ANY
NodeName=$(hostname -s) NodeAddr=192.0.2.1 CPUs=1 State=UNKNOWN
CONF
  systemctl start slurmctld.service slurmd.service
}
node_is() { [[ $(sinfo -h -o %T) == "$1" ]]; }                                     # STATE
reason() { scontrol --oneliner show node | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }
reason_begins() { [[ $(reason) == "$1"* ]]; }                                      # TEXT
well_for_s() { echo "$(($(date +%s) - $(date -d "$(health_query .since)" +%s)))"; }

scenario() {
  wait_until 60 "health says ready" health_is ready
  start_slurm
  wait_until 60 "the node is idle" node_is idle
  expect "a job runs" srun --immediate=20 true
  expect_equal "slurmd may lock memory" infinity "$(systemctl show -P LimitMEMLOCK slurmd.service)"

  host port 0 DOWN
  wait_until 90 "health says failed" health_is failed
  wait_until 30 "the node is drained" node_is drained
  expect "the reason is that of the example" reason_begins "PVRDMA: "
  host port 0 ACTIVE
  wait_until 45 "health says ready" health_is ready
  holds_for 8 "the node stays drained for a while" node_is drained
  wait_until 40 "then the node is resumed" node_is idle
  expect "the node was not resumed too early" test "$(well_for_s)" -ge 15
  expect "a job runs" srun --immediate=20 true

  scontrol update NodeName="$(hostname -s)" State=DRAIN Reason="disk failing"
  wait_until 20 "the administrator drains the node" node_is drained
  holds_for 10 "the health check does not resume it" node_is drained
  expect_equal "the reason stays" "disk failing" "$(reason)"
}
