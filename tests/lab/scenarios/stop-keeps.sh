# SPDX-License-Identifier: GPL-2.0-or-later
# summary: stopping and restarting the agent leaves modules, links and addresses as they are
# adapters: 2
# start: snapshot

state_of_kernel() {
  awk '{ print $1 }' /proc/modules
  stat -c %i /sys/module/vmw_pvrdma
  ip -o -br link show
  ip -o addr show | sed 's/valid_lft.*//'
  grep . /sys/class/infiniband/*/ports/1/state
}

no_jobs() { [[ -z $(systemctl list-jobs --no-legend) ]]; }

scenario() {
  # Modules that the boot, or rdma-core for a new device, still loads are not the agent's.
  wait_boot
  wait_until 60 "health says ready" health_is ready
  wait_until 60 "systemd has no job left" no_jobs
  ip addr add 192.168.30.201/24 dev ens16f0
  wait_until 10 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  state_of_kernel >before
  start_job 0
  systemctl stop pvrdma-agent.service
  expect "stop" diff before <(state_of_kernel)
  systemctl start pvrdma-agent.service
  wait_until 20 "ready again" health_is ready
  expect "start" diff before <(state_of_kernel)
  systemctl restart pvrdma-agent.service
  wait_until 20 "ready after a restart" health_is ready
  expect "restart" diff before <(state_of_kernel)
  expect_equal "the job has seen no event" 0 "$(grep -c 'event_type' events || true)"
  kill "$job"
}
