# summary: bench: bring-up against the recipe script, and the steady state, in one running guest
# timeout: 400

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
until_active() { until port_is 0 ACTIVE; do pause_50ms; done; }
timed() { # NAME COMMAND…
  local name=$1 began
  shift
  began=$(uptime_ms)
  "$@"
  until_active
  echo "BENCH $name $(($(uptime_ms) - began))"
}
# As udev leaves it at boot: the driver loaded by its alias, before everything else of the recipe.
by_alias() { modprobe "$(cat /sys/bus/pci/devices/0000:00:10.1/modalias)"; }

# Nanoseconds of CPU time and voluntary switches (a wake-up ends each) of all threads of a process.
usage_of() {
  cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d ", sum }'
  cat /proc/"$1"/task/*/status | awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }'
}

steady_state() {
  wait_until 20 "health says ready" health_is ready
  wait_until 40 "the executor has gone" unit_is pvrdma-agent-executor.service inactive
  local pid cpu wakes cpu_after wakes_after pss
  pid=$(systemctl show -P MainPID pvrdma-agent.service)
  read -r cpu wakes < <(usage_of "$pid")
  read -r -t 60 -u 8 || true
  read -r cpu_after wakes_after < <(usage_of "$pid")
  pss=$(for p in $(pgrep -f '/pvrdma-agent|/port-query' || true); do awk '/^Pss:/ { print $2 }' "/proc/$p/smaps_rollup"; done | awk '{ sum += $1 } END { print sum }')
  grep -E 'Pss|Rss' "/proc/$pid/smaps_rollup"
  echo "BENCH pss-kib $pss"
  echo "BENCH wakeups-per-minute $((wakes_after - wakes))"
  echo "BENCH cpu-ppm-of-60s $(((cpu_after - cpu) / 60000))"
  echo "BENCH privileged-processes $(pgrep -c -f pvrdma-agent-executor || true)"
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  systemctl stop pvrdma-agent.service
  local n
  for n in 1 2 3; do
    unload_all
    timed unloaded-recipe recipe
    unload_all
    timed unloaded-agent systemctl start pvrdma-agent.service
    systemctl stop pvrdma-agent.service
    unload_all
    by_alias
    timed by-alias-recipe recipe
    unload_all
    by_alias
    timed by-alias-agent systemctl start pvrdma-agent.service
    systemctl stop pvrdma-agent.service
  done
  systemctl start pvrdma-agent.service
  steady_state
}
