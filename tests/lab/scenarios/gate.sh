# SPDX-License-Identifier: GPL-2.0-or-later
# summary: pvrdma-online.target: a unit that wants it waits until ready or for the time-out, a unit that requires readiness is not started, others do not wait
# adapters: 1
# port: DOWN
# boots: 3
#
# Boot 1: the host holds the port down. Boot 2: the host lets the port come up late, but in time. Boot 3: the port is up
# at once. The host keeps the port's state from boot to boot.

# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh

early() {
  [[ $BOOT == 1 ]] || return 0
  local unit
  timeout_is 15s
  for unit in wanting requiring bystander; do
    printf '[Unit]\n%s\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' \
      "$(needs_of "$unit")" >"/etc/systemd/system/$unit.service"
    mkdir -p /etc/systemd/system/multi-user.target.wants
    ln -s "/etc/systemd/system/$unit.service" /etc/systemd/system/multi-user.target.wants/
  done
  # systemd planned this boot before these units existed.
  systemctl daemon-reload
  systemctl --no-block start wanting.service requiring.service bystander.service
}
lines_of() { grep -E '^(Wants|Requires|After)=' "/usr/share/doc/pvrdma-agent/examples/$1"; } # EXAMPLE
needs_of() {
  case $1 in
    wanting) lines_of slurmd-pvrdma.conf ;;
    requiring) lines_of kubelet-pvrdma.conf ;;
    bystander) printf 'Description=Waits for nothing' ;;
  esac
}
timeout_is() { printf '[readiness]\ntimeout = "%s"\n' "$1" | agent_config; }
wait_unit=pvrdma-agent-wait-online.service
moment() { echo "$(($(systemctl show -P "$2" "$1") / 1000))"; } # UNIT PROPERTY: ms since the kernel's start
started() { moment "$1" ExecMainStartTimestampMonotonic; }
ended() { moment "$wait_unit" ExecMainExitTimestampMonotonic; }
waiting() { unit_is "$wait_unit" activating; }
waited() { echo "it waited $(($(ended) - $(started "$wait_unit"))) ms; others began at $(started bystander.service) ms"; }

scenario() {
  case $BOOT in
    1)
      wait_until 90 "the wait has ended" unit_is "$wait_unit" failed
      wait_boot
      waited
      expect "the wait lasted for the whole time-out" [ $(($(ended) - $(started "$wait_unit"))) -ge 15000 ]
      wait_until 10 "the journal says why" sh -c "journalctl -b -u $wait_unit -o cat | grep -q 'not ready after 15 s'"
      wait_until 10 "the unit that wants the target runs after it" unit_is wanting.service active
      expect "after it" [ "$(started wanting.service)" -ge "$(ended)" ]
      expect_equal "the target is reached" active "$(systemctl is-active pvrdma-online.target)"
      expect_equal "the unit that requires readiness is not started" inactive "$(systemctl is-active requiring.service)"
      timeout_is 150s
      sync
      host reset
      ;;
    2)
      wait_until 60 "the service waits" waiting
      wait_until 30 "a unit that asks for nothing does not wait" unit_is bystander.service active
      expect_not "the unit that wants the target has not started yet" unit_active wanting.service
      expect "the service still waits" waiting
      host port 0 ACTIVE
      wait_until 45 "the host lets the port come up: the wait ends" unit_is "$wait_unit" active
      waited
      wait_until 10 "the unit that wants the target runs" unit_is wanting.service active
      wait_until 10 "the unit that requires readiness runs" unit_is requiring.service active
      expect "after it" [ "$(started requiring.service)" -ge "$(ended)" ]
      sync
      host reset
      ;;
    3)
      wait_until 60 "the wait ends" unit_is "$wait_unit" active
      waited
      wait_until 20 "the units run" unit_is requiring.service active
      expect "health says ready" health_is ready
      follow_guide kubernetes gate
      ;;
  esac
}
