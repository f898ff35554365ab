# SPDX-License-Identifier: GPL-2.0-or-later
# summary: Cockpit in a guest, whose port the host reaches; then whatever tests/check/cockpit wants
# programs: cockpit-ws cockpit-bridge cockpit-system sudo
# start: snapshot
# timeout: 600

# A user who may become root, as Cockpit's administrator switch does it, by sudo.
make_visitor() {
  echo 'u visitor - "Visitor" /home/visitor /bin/bash' | systemd-sysusers -
  install -d -o visitor -g visitor /home/visitor
  echo 'visitor ALL=(ALL:ALL) NOPASSWD: ALL' >/etc/sudoers.d/visitor
}
# Without a login, as nobody types a password here.
start_cockpit() {
  ip address add 10.0.2.15/24 dev ens15
  ip link set ens15 up
  systemd-run --quiet --unit=cockpit-lab --uid=visitor --working-directory=/home/visitor --setenv=LANG=C.UTF-8 \
    /usr/lib/cockpit/cockpit-ws --no-tls --port 9090 --local-session=cockpit-bridge
  wait_until 60 "Cockpit listens" sh -c 'ss -ltn | grep -q ":9090 "'
}
start_made_up_agent() { # HEALTH, in JSON: an agent that says nothing else
  systemctl stop pvrdma-agent.service
  rm /run/pvrdma-agent/io.pvrdma.Agent
  systemd-run --quiet --unit=made-up-agent /usr/bin/python3 /run/lab/files/made-up-agent "$1"
}
stop_made_up_agent() {
  systemctl stop made-up-agent.service
  systemctl start pvrdma-agent.service
}

scenario() {
  use_programs
  # What its package depends on is here by its files only, too.
  dpkg-deb -x cockpit/*.deb /
  make_visitor
  start_cockpit
  host forward 9090 >cockpit.port
  follow
}
