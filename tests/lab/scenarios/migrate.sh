# SPDX-License-Identifier: GPL-2.0-or-later
# summary: the field's rc.local beside the agent: no reload against it; migrate moves it to the agent and back, byte for byte; a user's crontab, script and process stop neither; a rule of udev's is named
# adapters: 1
# boots: 3

rc_local() {
  cat >/etc/rc.local <<'R'
#!/bin/bash
# What the guides say.
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
# A user's crontab, script and "bash", which leaves a mark where root runs it, and a process that calls itself the script.
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

# The port is held down, so the agent would climb to the reload; the script waits.
beside_the_script() {
  wait_until 60 "the script is running" pgrep -f /etc/rc.local
  wait_until 60 "a reload is due" finding reload-waits
  expect "the finding names the script" sh -c "pvrdma-agentctl health --json | grep -q '/etc/rc.local does that itself'"
  expect "so does the lasting one" finding boot-script
  holds_for 10 "no reload by the agent" sh -c '! gojq -e ".reloads > 0" /run/pvrdma-agent-executor/ledger.json'
  expect_not "nor when root asks for one" pvrdma-agentctl reload
  local before
  before=$(driver_inode)
  as_nobody sh -c 'sleep 600; :' /etc/rc.local &
  wait_until 10 "a user's process has the script's name" pgrep -u nobody -f /etc/rc.local
  : >/run/go
  wait_until 90 "the script has ended" test -e /run/rc.local-ended
  expect_not "it was the script that reloaded" test "$before" = "$(driver_inode)"
  wait_until 60 "now the ladder goes on, whatever the user's process is called" reloads_are 1
  expect "which runs on" pgrep -u nobody -f /etc/rc.local
  host port 0 ACTIVE
  wait_until 60 "the port is up" port_is 0 ACTIVE
  wait_until 45 "ready, as a script alone does not keep anybody waiting" health_is ready
  expect "and it is the one finding" only_boot_script
}

# A rule of udev's that reloads the driver when an interface of a test appears.
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
  expect_equal "migrate leaves it to a person" 1 $code
  expect "and names who runs it" grep -qx "$rules: run by udev" shown
  expect "and the line" grep -q '^  3 .*modprobe -r vmw_pvrdma' shown
  expect "nothing is edited there" cmp $rules /root/rules.original
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
    expect "nothing is there" grep -q '^nothing' shown
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
    expect "and changes nothing" cmp /etc/rc.local /root/rc.local.original
    code=0
    pvrdma-agentctl migrate --apply >shown || code=$?
    cat shown
    expect_equal "what sets a link is left to a person" 1 $code
    expect "and named" grep -q "ip link set dev $(netdev_of 0) mtu 1500" shown
    expect "with the configuration in its place" grep -qx 'mtu = 1500' shown
    expect_not "nothing of the user's was run" test -e /root/user-bash-ran
    expect_not "nor shown" grep -q /home/user shown
    expect "the backup is what it was" cmp /var/lib/pvrdma-agent/migrated/etc/rc.local /root/rc.local.original
    expect "the rest of the script is as it was" diff <(grep -v modprobe /root/rc.local.original) \
      <(grep -v '^\(: \)\?#pvrdma-agent#' /etc/rc.local)
    wait_until 20 "no finding at once" no_finding boot-script
    expect "ready" health_is ready
    return
  fi
  wait_until 90 "the script has run" test -e /run/rc.local-ended
  wait_until 60 "ready" health_is ready
  expect "no finding" no_finding boot-script
  expect_equal "the script reloaded nothing, and the agent neither" 0 "$(health_query .executor.reloads)"
  pvrdma-agentctl migrate --revert
  expect "as it was" cmp /etc/rc.local /root/rc.local.original
  expect_equal "with mode, owner and time" "$(stat -c '%a %u %g %Y' /root/rc.local.original)" "$(stat -c '%a %u %g %Y' /etc/rc.local)"
  expect_not "nothing is kept" test -e /var/lib/pvrdma-agent/migrated
  wait_until 20 "the agent says so at once" finding boot-script
  pvrdma-agentctl seal --check >sealed || code=$?
  cat sealed
  expect_equal "a template of this VM is not sealed" 1 $code
  expect "by rc.local" grep -q '^/etc/rc.local:' sealed
  expect "and the machine-id" grep -q '^/etc/machine-id' sealed
}
