# SPDX-License-Identifier: GPL-2.0-or-later
# summary: two hours with flaps, reloads, hot-plug, upgrades, restarts of services and clock steps: no verdict contradicts sysfs, and nothing grows
# adapters: 2
# previous: yes
# skip-idle: yes
# soak: yes
# timeout: ${PVRDMA_LAB_SOAK_TIMEOUT:-9000}
#
# A round of all disturbances takes four minutes, most of which are rest. A life of the daemon lasts for several rounds, so that the
# memory that it keeps would add up, and ends with an upgrade.

# The host answers in real time.
host() { ask_host 3000 "$@"; }
minutes=${PVRDMA_LAB_SOAK_MINUTES:-120} round_ms=$((${PVRDMA_LAB_SOAK_ROUND:-240} * 1000)) rounds_of_life=${PVRDMA_LAB_ROUNDS:-6} most_growth_kib=300
managers=(systemd-networkd NetworkManager systemd-journald)

all_well() { health_is ready && all_paired; }
ready_again() { # SECONDS WORD
  wait_until "$1" "$round: $2: ready" all_well
}
until_ms() { # UPTIME: the guest rests
  local left
  while left=$(($1 - $(uptime_ms))) && ((left > 0)); do pause_ms "$left"; done
}

# networkd has adapter 0, NetworkManager adapter 1, which comes and goes.
use_managers() {
  printf '%s\n' '[Match]' Name=ens16f0 '[Network]' Address=192.168.30.201/24 >/etc/systemd/network/10-rdma.network
  keyfile ens17f0 method=manual address1=192.168.31.201/24
  printf '%s\n' '[keyfile]' unmanaged-devices=except:interface-name:ens17f0 >/etc/NetworkManager/conf.d/soak.conf
  systemctl start "${managers[@]/%/.service}"
}

# --- disturbances -----------------------------------------------------------------------------------------------

flaps() {
  host_sets_port $((round % 2)) DOWN
  until_ms $(($(uptime_ms) + 5000)) # Verdicts about a port that is DOWN are compared as well.
  host_sets_port $((round % 2)) ACTIVE
  ready_again 60 "the host's port is back"
  for _ in {1..5}; do
    ip link set ens16f0 down
    pause_ms 50
    ip link set ens16f0 up
  done
  ready_again 60 "link flaps"
}
asked_reload() {
  pvrdma-agentctl reload >reload.out
  ready_again 60 "$(head -n 1 reload.out)"
}
hot_plug() {
  remove_adapter 1
  wait_until 60 "$round: adapter 1 is gone, and the other has its netdev again" survivor_mended 0
  rescan_pci
  ready_again 90 "adapter 1 is plugged in again"
}
managers_restart() {
  local manager
  for manager in "${managers[@]}"; do
    systemctl restart "$manager.service"
    ready_again 60 "$manager restarts"
  done
}
clock_steps() {
  if ((round % 2)); then date -s '+2 days'; else date -s '-2 days'; fi >date.out
  ready_again 60 "the clock steps to $(<date.out)"
}
package() { # FOLDER…
  local folder
  for folder; do
    dpkg -i "$folder"/*.deb >dpkg.out 2>&1 || { cat dpkg.out; die "dpkg -i $folder"; }
    ready_again 60 "$(dpkg-query -W -f '${Version}' pvrdma-agent) of $folder is installed"
  done
}

# --- samples ----------------------------------------------------------------------------------------------------

anonymous_kib() { awk '/^Pss_Anon:/ { print $2 }' "/proc/$(agent_pid)/smaps_rollup"; }
threads() { sed -n 's/^Threads:\t//p' "/proc/$(agent_pid)/status"; }
no_program_is_left() { ! pgrep -l -f 'pvrdma-agent(-executor|/port-query|/module-lookup)'; }
sample() {
  wait_until 90 "$round: the executor is at rest" at_rest
  wait_until 10 "$round: neither executor nor helper is left" no_program_is_left
  # A look under way has descriptors of its own.
  wait_until 10 "$round: no more descriptors than at the beginning" no_more_fds
  expect_equal "$round: threads" "$threads_before" "$(threads)"
  pss=$(agent_memory_kib)
  echo "BENCH soak round $round, uptime $(($(uptime_ms) / 60000)) min: PSS $pss KiB, of which $(anonymous_kib) anonymous, $(agent_fds | wc -l) descriptors, $(threads) threads, $(wc -l <contradictions) contradictions"
  tail -n 5 contradictions  # a scenario that ends early has shown them
}

scenario() {
  local round=0 end rest first pss threads_before watch
  wait_until 60 "health says ready" health_is ready
  use_managers
  wait_until 60 "networkd has adapter 0" managed_by 0 systemd-networkd
  wait_until 60 "NetworkManager has adapter 1" managed_by 1 NetworkManager
  ready_again 60 "services run"
  wait_until 60 "the executor is at rest" at_rest
  leaks_begin
  threads_before=$(threads)
  python3 watch.py 1 >contradictions 2>&1 &
  watch=$!
  end=$(($(uptime_ms) + minutes * 60000))
  while (($(uptime_ms) < end)); do
    round=$((round + 1)) rest=$(($(uptime_ms) + round_ms))
    flaps
    asked_reload
    hot_plug
    managers_restart
    clock_steps
    expect_equal "$round: the daemon is the same process" "$pid_before" "$(agent_pid)"
    sample
    ((round % rounds_of_life == 1)) && first=$pss
    expect "$round: PSS is at most $most_growth_kib KiB above the $first KiB after the life's first round" [ "$pss" -le $((first + most_growth_kib)) ]
    until_ms "$rest"
    if ((round % rounds_of_life == 0)); then
      package previous debs debs
      pid_before=$(agent_pid)
    fi
  done
  expect "the outside look goes on" kill "$watch"
  wait "$watch" || true
  echo "BENCH soak $minutes minutes, $round rounds, $(ledger .reloads) reloads, $(tail -n 1 contradictions)"
  expect "the outside look has had verdicts" grep -qxE '[1-9][0-9]* verdicts' contradictions
  expect_equal "verdicts that contradict sysfs" "" "$(head -n -1 contradictions)"
}
