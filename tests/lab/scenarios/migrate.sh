# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the field's rc.local beside the agent: no reload while it runs; migrate moves its lines to the agent and back, byte for byte; a user's crontab, script and process stop neither; a udev rule is named
# adapters: 1
# boots: 3
# start: snapshot

rc_local() {
  cat >/etc/rc.local <<'R'
#!/bin/bash
# The script that the guides recommend.
while [ ! -e /run/go ]; do sleep 1; done
/sbin/modprobe mlx4_ib
/sbin/modprobe ib_umad
/sbin/modprobe rdma_cm
/sbin/modprobe rdma_ucm
/sbin/modprobe -r vmw_pvrdma
/sbin/modprobe vmw_pvrdma
until ibv_devinfo | grep -q hca_id; do sleep 1; done
touch /run/rc.local-ended
exit 0
R
  sed -i "/^touch/i ip link set dev $(netdev_of 0) mtu 1500" /etc/rc.local
  chmod 754 /etc/rc.local
  touch -d '2024-02-29 12:34:56' /etc/rc.local
  cp -p /etc/rc.local /root/rc.local.original
}
# A user's crontab, script and "bash", which leaves a mark if root runs it, and a process with the script's name.
users_traps() {
  mkdir -p /home/user /var/spool/cron/crontabs
  printf '#!/bin/sh\ntouch /root/user-bash-ran\n' >/home/user/bash
  printf '#!/home/user/bash\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n' >/home/user/up.sh
  printf '@reboot /home/user/up.sh\n' >/var/spool/cron/crontabs/nobody
  chmod 755 /home/user/bash /home/user/up.sh
  chown -R nobody /home/user /var/spool/cron/crontabs/nobody
}
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
driver_inode() { stat -c %i /sys/module/vmw_pvrdma; }

only_boot_script() { [[ $(health_query '.findings[].id') == boot-script ]]; }

early() {
  case $BOOT in
    2) host port 0 DOWN ;;
    3) : >/run/go ;;
  esac
}

# The host holds the port down, so the agent's next step is a reload; the script waits.
beside_the_script() {
  wait_until 60 "the script is running" pgrep -f /etc/rc.local
  wait_until 60 "a reload is due" finding reload-waits
  expect "the finding names the script" sh -c "pvrdma-agentctl health --json | grep -q '/etc/rc.local does that itself'"
  expect "a second finding names the script, too" finding boot-script
  holds_for 10 "no reload by the agent" sh -c '! gojq -e ".reloads > 0" /run/pvrdma-agent-executor/ledger.json'
  local before code=0
  before=$(driver_inode)
  pvrdma-agentctl reload >reload.out 2>&1 || code=$?
  expect_equal "root's reload fails" 2 "$code"
  expect "root's reload is refused as well" grep -F '/etc/rc.local does that itself' reload.out
  expect_equal "the driver was not reloaded" "$before" "$(driver_inode)"
  as_nobody sh -c 'sleep 600; :' /etc/rc.local &
  wait_until 10 "a user's process has the script's name" pgrep -u nobody -f /etc/rc.local
  : >/run/go
  wait_until 90 "the script has ended" test -e /run/rc.local-ended
  expect_not "the script has reloaded the driver" test "$before" = "$(driver_inode)"
  wait_until 60 "the agent reloads now, whatever the name of the user's process" reloads_are 1
  expect "the user's process still runs" pgrep -u nobody -f /etc/rc.local
  host port 0 ACTIVE
  wait_until 60 "the port is up" port_is 0 ACTIVE
  wait_until 45 "ready, as a script alone does not delay ready" health_is ready
  expect "boot-script is the only finding" only_boot_script
}

# A udev rule that reloads the driver when an interface of this test appears.
reload_by_udev() {
  local rules=/etc/udev/rules.d/99-rdma.rules before code=0
  before=$(driver_inode)
  printf '%s\n' '# a reload of its own' 'ACTION=="add", SUBSYSTEM=="net", KERNEL=="hidden0", \' \
    "  RUN+=\"/bin/sh -c 'modprobe -r vmw_pvrdma; modprobe vmw_pvrdma'\"" >$rules
  cp $rules /root/rules.original
  udevadm control --reload
  ip link add hidden0 type dummy
  wait_until 60 "udev has reloaded the driver" driver_is_another "$before"
  pvrdma-agentctl migrate --apply >shown || code=$?
  cat shown
  expect_equal "migrate leaves it to the administrator" 1 $code
  expect "migrate says that udev runs it" grep -qx "$rules: run by udev" shown
  expect "migrate names the line" grep -q '^  3 .*modprobe -r vmw_pvrdma' shown
  expect "the rule is not edited" cmp $rules /root/rules.original
  pvrdma-agentctl doctor >shown || true
  cat shown
  expect "doctor names file and line" grep -q "$rules:3" shown
  rm $rules
  udevadm control --reload
  ip link del hidden0
  wait_until 60 "ready again" health_is ready
}
driver_is_another() { [[ -e /sys/module/vmw_pvrdma && $(driver_inode) != "$1" ]]; }

scenario() {
  local code=0
  if [[ $BOOT == 1 ]]; then
    wait_until 60 "ready without a script" health_is ready
    pvrdma-agentctl migrate | tee shown
    expect "migrate finds nothing" grep -q '^nothing' shown
    reload_by_udev
    rc_local
    users_traps
    return
  fi
  if [[ $BOOT == 2 ]]; then
    beside_the_script
    pvrdma-agentctl migrate >shown || code=$?
    cat shown
    expect_equal "migrate finds it" 1 $code
    expect "migrate changes nothing" cmp /etc/rc.local /root/rc.local.original
    code=0
    pvrdma-agentctl migrate --apply >shown || code=$?
    cat shown
    expect_equal "a line that sets a link is left to the administrator" 1 $code
    expect "the line is named" grep -q "ip link set dev $(netdev_of 0) mtu 1500" shown
    expect "migrate prints the configuration for it" grep -qx 'mtu = 1500' shown
    expect_not "the user's programs were not run" test -e /root/user-bash-ran
    expect_not "the user's files are not shown" grep -q /home/user shown
    expect "the backup is the original" cmp /var/lib/pvrdma-agent/migrated/etc/rc.local /root/rc.local.original
    expect "the other lines of the script are unchanged" diff <(grep -v modprobe /root/rc.local.original) \
      <(grep -v '^\(: \)\?#pvrdma-agent#' /etc/rc.local)
    wait_until 20 "the finding ends at once" no_finding boot-script
    expect "ready" health_is ready
    return
  fi
  wait_until 90 "the script has run" test -e /run/rc.local-ended
  wait_until 60 "ready" health_is ready
  expect "no finding" no_finding boot-script
  expect_equal "neither the script nor the agent has reloaded the driver" 0 "$(health_query .executor.reloads)"
  pvrdma-agentctl migrate --revert
  expect "the script is the original again" cmp /etc/rc.local /root/rc.local.original
  expect_equal "mode, owner and time are those of the original" "$(stat -c '%a %u %g %Y' /root/rc.local.original)" "$(stat -c '%a %u %g %Y' /etc/rc.local)"
  expect_not "the backup is removed" test -e /var/lib/pvrdma-agent/migrated
  wait_until 20 "the finding is back at once" finding boot-script
  pvrdma-agentctl seal --check >sealed || code=$?
  cat sealed
  expect_equal "seal finds data of this VM" 1 $code
  expect "seal names rc.local" grep -q '^/etc/rc.local:' sealed
  expect "seal names the machine-id" grep -q '^/etc/machine-id' sealed
}
