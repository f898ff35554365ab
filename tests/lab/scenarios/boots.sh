# SPDX-License-Identifier: GPL-2.0-or-later
# summary: history of boots: each step is in the journal once, with its time; boots shows the last boots side by side, also after restarts and crashes of the agent
# adapters: 1
# network: yes
# boots: 3
#
# Boot 1: the agent is restarted, and then stopped. Boot 2: another program writes the agent's messages, and a user may not read them.
# Boot 3: the adapter's cable is out for a while. QEMU's port is ACTIVE without it.

early() {
  if ((BOOT == 1)); then
    # The boot in which the package was installed is not known, because its journal was in /run.
    mkdir -p /var/log/journal
    printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.201/24"]\n' | agent_config
  fi
  if ((BOOT == 3)); then
    host link 0 down
  fi
}

order='["agent_started", "adapter_seen", "driver_live", "link_up", "carrier", "port_active", "address", "gid", "ready"]'
((BOOT < 3)) || order='["agent_started", "adapter_seen", "driver_live", "link_up", "port_active", "carrier", "address", "gid", "ready"]'
boots() { pvrdma-agentctl boots --json; }
step() { boots | gojq -e --arg step "$1" '.boots[0].steps[] | select(.step == $step) | .at_ms'; } # STEP
knows() { boots | gojq -e --argjson count "$1" '.boots[:$count] | length == $count and all(.[]; any(.steps[]; .step == "ready"))'; } # COUNT
this_boot_id() { tr -d - </proc/sys/kernel/random/boot_id; }
timeline() { boots | gojq '.boots[0] | del(.began)'; }
in_order() {
  boots | gojq -c '.boots[0].steps[] | [.at_ms, .step, .subject]'
  boots | gojq -e --argjson order "$order" '[.boots[0].steps[] | .step | select(. as $step | $order | index($step))] == $order'
}
ascending() { boots | gojq -e '[.boots[0].steps[].at_ms] | . == sort and .[0] > 500'; }
# Compares each load of the executor until ready with the ledger. The entry's time is read a moment later than the ledger's, on a busy machine longer.
loads_are_there() {
  local ready
  ready=$(step ready)
  ledger --argjson ready "$ready" --argjson steps "$(boots | gojq '[.boots[0].steps[] | select(.step == "module_loaded")]')" -e '
    [.attempts[] | select(.verb == "LoadModule" and .outcome == "done" and .finished_ms <= $ready)] as $loads
    | ($loads | length) > 0 and ($loads | length) == ($steps | length) and all($loads[]; . as $load | any($steps[];
        .subject == $load.target and (.at_ms - $load.finished_ms | fabs) <= 2000
        and (.took_ms - ($load.finished_ms - $load.started_ms) | fabs) <= 2000))'
}
told_once() { # each of the agent's own steps of this boot
  diff <(boots | gojq -r '.boots[0].steps[] | select(.took_ms == null) | "\(.step) \(.subject // "")"' | sort) \
    <(journalctl -b -o json -u pvrdma-agent.service | gojq -r 'select(.PVRDMA_STEP) | "\(.PVRDMA_STEP) \(.PVRDMA_ADAPTER // "")"' | sort)
}
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
next_boot() { journalctl --sync; sync; host reset; }

scenario() {
  if ((BOOT == 3)); then
    wait_until 90 "there is no carrier" finding no-carrier
    host link 0 up
  fi
  wait_until 90 "health says ready" health_is ready
  wait_until 60 "so many boots are known with their steps" knows "$BOOT"
  expect "the steps are in order" in_order
  expect "their times are in order" ascending
  expect "the loads of modules are among the steps" loads_are_there
  expect "each step is logged once" told_once
  expect_equal "this boot is the newest" "$(this_boot_id)" "$(boots | gojq -r '.boots[0].boot_id')"
  case $BOOT in
    1) an_agent_comes_and_goes ;;
    2) others_write_and_read ;;
    3) expect "the boot waited for the carrier" slower_than_before ;;
  esac
  pvrdma-agentctl boots
  ((BOOT == 3)) || next_boot
}

an_agent_comes_and_goes() {
  timeline >before
  cat before
  expect "the time of ready is within this boot" [ "$(step ready)" -le "$(uptime_ms)" ]
  systemctl restart pvrdma-agent.service
  wait_until 20 "ready after a restart" health_is ready
  expect "a restart does not change the timeline" diff before <(timeline)
  systemctl kill -s KILL pvrdma-agent.service
  wait_until 20 "ready after a crash" health_is ready
  expect "a crash does not change the timeline" diff before <(timeline)
  systemctl stop pvrdma-agent.service
  expect "without the agent the timeline is the same" diff before <(timeline)
}

others_write_and_read() {
  timeline >before
  printf 'MESSAGE=forged\nPVRDMA_STEP=driver_reloaded\nPVRDMA_TARGET=vmw_pvrdma\nPVRDMA_USEC_SINCE_BOOT=700000\n%s\n' \
    _SYSTEMD_UNIT=pvrdma-agent.service | as_nobody logger --journald
  journalctl --sync
  expect "a forged entry is in the journal" sh -c 'journalctl -b -o cat MESSAGE=forged | grep forged'
  expect "the forged entry is ignored" diff before <(timeline)
  status=0
  as_nobody pvrdma-agentctl boots >said 2>&1 || status=$?
  expect_equal "a user who may not read the journal: status" 3 $status
  expect "the message names the group that may read it" grep -q systemd-journal said
}

slower_than_before() {
  boots | gojq -e '[.boots[:2][] | [.steps[] | {(.step): .at_ms}] | add | .carrier - .link_up] | .[0] > .[1]'
}
