# summary: timelines: each boot's steps are kept, whatever the agent goes through, and a slow boot is told with the step that made it so
# adapters: 1
# network: yes
# boots: 4
#
# Boot 1: the agent is restarted, and then not there. Boot 2: /var/lib is read-only for a while. Boot 3: nothing. Boot 4: the
# adapter's cable is out until the boot is slow.

early() {
  if ((BOOT == 1)); then
    # Of the boot in which the package was installed.
    rm -rf /var/lib/pvrdma-agent/boots
    printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.201/24"]\n' | agent_config
  fi
  ((BOOT < 4)) || host link 0 down
}

kept=/var/lib/pvrdma-agent/boots/boots.json
order='["agent_started", "adapter_seen", "driver_live", "link_up", "carrier", "port_active", "address", "gid", "ready"]'
boots() { pvrdma-agentctl boots --json; }
step() { boots | jq -e --arg step "$1" '.boots[0].steps[] | select(.step == $step) | .at_ms'; } # STEP
keeps() { jq -e --argjson count "$1" '(.boots | length == $count) and ([.boots[].steps[] | select(.step == "ready")] | length == $count)' $kept; }
boot_ids() { jq -r '.boots[].boot_id' $kept; }
this_boot_id() { tr -d - </proc/sys/kernel/random/boot_id; }
# What the agent goes by; the wall clock's time may be told anew.
timeline() { boots | jq -S '.boots[0] | del(.began)'; }
in_order() {
  boots | jq -c '.boots[0].steps[] | [.at_ms, .step, .subject]'
  boots | jq -e --argjson order "$order" '[.boots[0].steps[] | .step | select(. as $step | $order | index($step))] == $order'
}
ascending() { boots | jq -e '[.boots[0].steps[].at_ms] | . == sort and .[0] > 500'; }
# Each load of the executor's, with the time it took.
loads_are_there() {
  diff <(ledger -r --argjson ready "$(step ready)" '[.attempts[] | select(.verb == "LoadModule" and .outcome == "done" and .finished_ms <= $ready)
    | "\(.target) \(.finished_ms) \(.finished_ms - .started_ms)"] | unique | .[]') \
    <(boots | jq -r '[.boots[0].steps[] | select(.step == "module_loaded") | "\(.subject) \(.at_ms) \(.took_ms)"] | unique | .[]')
}
median_bring_up() { # of the boots before this one, in ms
  boots | jq '[.boots[1:][] | [.steps[] | {(.step): .at_ms}] | add | .ready - .agent_started] | sort | .[length / 2 | floor]'
}
later_than() { (($(uptime_ms) > $1)); } # UPTIME in ms
keeper_lines() { journalctl -b -o cat --no-pager -u pvrdma-agent-boots.service | wc -l; }
# Sets the mark once more, as the agent does.
keep_again() { cp /run/pvrdma-agent/keep-boot.json mark; mv mark /run/pvrdma-agent/keep-boot.json; }
next_boot() { sync; host reset; }

scenario() {
  if ((BOOT == 4)); then
    a_slow_boot
    return
  fi
  wait_until 90 "health says ready" health_is ready
  wait_until 60 "so many boots are kept with their steps" keeps "$BOOT"
  expect "the steps are in order" in_order
  expect "and in time" ascending
  expect "the loads are there" loads_are_there
  expect_equal "this boot is the newest" "$(this_boot_id)" "$(boot_ids | head -n 1)"
  expect_equal "no boot is slow" "" "$(finding boot-slow || true)"
  case $BOOT in
    1) an_agent_comes_and_goes ;;
    2) nowhere_to_write ;;
  esac
  next_boot
}

an_agent_comes_and_goes() {
  timeline >before
  cat before
  local ready inode
  ready=$(step ready)
  expect "ready is in the past, and the boot's" [ "$ready" -le "$(uptime_ms)" ]
  inode=$(stat -c %i $kept)
  systemctl restart pvrdma-agent.service
  wait_until 20 "ready after a restart" health_is ready
  expect "a restart does not change the timeline" diff before <(timeline)
  systemctl kill -s KILL pvrdma-agent.service
  wait_until 20 "ready after a crash" health_is ready
  expect "nor does a crash" diff before <(timeline)
  systemctl stop pvrdma-agent.service
  expect "nor does its absence" diff before <(timeline)
  expect "which is said" sh -c 'pvrdma-agentctl boots 2>&1 >/dev/null | grep -q "not running"'
  expect_equal "nothing new was kept" "$inode" "$(stat -c %i $kept)"
  expect_equal "what is kept anyone may read, and the agent alone write" "644 pvrdma-agent" "$(stat -c '%a %U' $kept)"
  expect_equal "beside what is root's" root "$(stat -c %U /var/lib/pvrdma-agent)"
  pvrdma-agentctl boots
}

nowhere_to_write() {
  local lines inode
  inode=$(stat -c %i $kept) lines=$(keeper_lines)
  mount --bind /var/lib /var/lib
  mount -o remount,bind,ro /var/lib
  keep_again
  wait_until 10 "a read-only /var/lib costs a line" later_line "$lines"
  holds_for 3 "and no other" [ "$(keeper_lines)" = $((lines + 1)) ]
  expect_not "nothing has failed" systemctl is-failed pvrdma-agent-boots.service pvrdma-agent-boots.path
  umount -l /var/lib
  cp $kept saved
  echo '{' >$kept
  keep_again
  wait_until 10 "what is no such file is replaced" keeps 1
  wait_until 10 "with a line" journal_has 'earlier boots are dropped'
  cat saved >$kept
}
later_line() { [[ $(keeper_lines) -gt $1 ]]; }

a_slow_boot() {
  wait_until 90 "there is no carrier" finding no-carrier
  # No step grows by more, however busy the host is just now.
  local usual limit least
  usual=$(median_bring_up)
  limit=$(($(step agent_started) + 2 * usual + 3000)) least=$(($(uptime_ms) + usual + 3000))
  ((limit > least)) || limit=$least
  wait_until 120 "the boot is slow: usually $usual ms" later_than "$limit"
  host link 0 up
  wait_until 30 "health says ready" health_is ready
  finding boot-slow
  expect_equal "the step that was slow" "carrier of $(function_of 0)" "$(finding boot-slow | jq -r .evidence.values.step)"
  wait_until 10 "the journal tells of it" journal_has 'What took longest'
  wait_until 60 "it is kept" keeps 4
  pvrdma-agentctl boots
}
