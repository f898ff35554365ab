# SPDX-License-Identifier: GPL-2.0-or-later
# summary: pvrdma-online.target: a unit that wants it waits until ready or for its time, one that requires it stays out, others wait for nothing
# adapters: 1
# port: DOWN
# boots: 3
#
# Boot 1: the host holds the port down for good. Boot 2: it lets go late, well within the time. Boot 3: the port is there
# at once. The host takes the port's state along from boot to boot.

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
  # This boot's plan was made before they were there.
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
      wait_until 90 "nobody waits any more" unit_is "$wait_unit" failed
      wait_boot
      waited
      expect "it took its time" [ $(($(ended) - $(started "$wait_unit"))) -ge 15000 ]
      wait_until 10 "and said why" sh -c "journalctl -b -u $wait_unit -o cat | grep -q 'not ready after 15 s'"
      wait_until 10 "the unit that wants the target runs after it" unit_is wanting.service active
      expect "after it" [ "$(started wanting.service)" -ge "$(ended)" ]
      expect_equal "the target is reached" active "$(systemctl is-active pvrdma-online.target)"
      expect_equal "the unit that requires readiness stays out" inactive "$(systemctl is-active requiring.service)"
      timeout_is 150s
      sync
      host reset
      ;;
    2)
      wait_until 60 "it waits" waiting
      wait_until 30 "whoever asks for nothing does not" unit_is bystander.service active
      expect_not "who needs the adapters does not yet" unit_active wanting.service
      expect "it still waits" waiting
      host port 0 ACTIVE
      wait_until 45 "the host lets go: it ends" unit_is "$wait_unit" active
      waited
      wait_until 10 "the unit that wants the target runs" unit_is wanting.service active
      wait_until 10 "and the one that requires it" unit_is requiring.service active
      expect "after it" [ "$(started requiring.service)" -ge "$(ended)" ]
      sync
      host reset
      ;;
    3)
      wait_until 60 "it ends" unit_is "$wait_unit" active
      waited
      wait_until 20 "the units run" unit_is requiring.service active
      expect "health says ready" health_is ready
      ;;
  esac
}
