# SPDX-License-Identifier: GPL-2.0-or-later
# summary: bench: bring-up against the recipe script, and the steady state, in one running guest
# timeout: 600

recipe() {
  modprobe mlx4_ib
  modprobe ib_umad
  modprobe rdma_cm
  modprobe rdma_ucm
  modprobe -r vmw_pvrdma
  modprobe vmw_pvrdma
  ip link set ens16f0 up
}
unload_all() {
  modprobe -r vmw_pvrdma
  modprobe -r rdma_ucm rdma_cm ib_umad mlx4_ib 2>/dev/null || true
  ip link set ens16f0 down
}
# Removes the ledger; otherwise the pause after an attempt would be measured.
begin_anew() {
  systemctl stop pvrdma-agent.service pvrdma-agent-executor.service
  rm -f /run/pvrdma-agent-executor/ledger*
}
until_active() { until port_is 0 ACTIVE; do pause_ms 50; done; }
timed() { # NAME COMMAND…
  local name=$1 began
  shift
  began=$(uptime_ms)
  "$@"
  until_active
  echo "BENCH $name $(($(uptime_ms) - began))"
}
# The state that udev leaves at boot: the driver loaded by its alias, before the other modules of the recipe.
by_alias() { modprobe "$(cat /sys/bus/pci/devices/0000:00:10.1/modalias)"; }

# Nanoseconds of CPU time and the number of voluntary switches (each wake-up ends in one) of all threads of a process.
usage_of() {
  cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d ", sum }'
  cat /proc/"$1"/task/*/status | awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }'
}

# The cost of the agent while nothing happens, next to other daemons of such a VM.
steady_state() {
  local minutes=3 unit pid cpu wakes name
  local -A pids cpu_before wakes_before
  wait_until 20 "health says ready" health_is ready
  printf '%s\n' '[keyfile]' unmanaged-devices=interface-name:ens16f0 >/etc/NetworkManager/conf.d/bench.conf
  systemctl start systemd-networkd.service rdma-ndd.service NetworkManager.service
  wait_until 40 "the executor has gone" at_rest
  # Waits until the agent has looked at the changes that the others make when they start.
  pause_ms 60000
  for unit in pvrdma-agent systemd-networkd rdma-ndd NetworkManager; do
    pids[$unit]=$(systemctl show -P MainPID "$unit.service")
    read -r "cpu_before[$unit]" "wakes_before[$unit]" < <(usage_of "${pids[$unit]}")
  done
  pause_ms $((minutes * 60000))
  for unit in "${!pids[@]}"; do
    pid=${pids[$unit]} name=${unit##*-}
    read -r cpu wakes < <(usage_of "$pid")
    echo "BENCH $name-pss-kib $(awk '/^Pss:/ { print $2 }' "/proc/$pid/smaps_rollup")"
    echo "BENCH $name-wakeups-per-minute $(((wakes - wakes_before[$unit]) / minutes))"
    echo "BENCH $name-cpu-ppm $(((cpu - cpu_before[$unit]) / (minutes * 60000)))"
  done
  echo "BENCH helpers-at-rest $(pgrep -c -f 'pvrdma-agent-executor|port-query|module-lookup' || true)"
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  begin_anew
  local n
  for n in 1 2 3; do
    unload_all
    timed unloaded-recipe recipe
    unload_all
    timed unloaded-agent systemctl start pvrdma-agent.service
    begin_anew
    unload_all
    by_alias
    timed by-alias-recipe recipe
    unload_all
    by_alias
    timed by-alias-agent systemctl start pvrdma-agent.service
    begin_anew
  done
  systemctl start pvrdma-agent.service
  steady_state
}
