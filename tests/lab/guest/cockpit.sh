# SPDX-License-Identifier: GPL-2.0-or-later
# summary: Cockpit in a guest, on a port that the host can reach; tests/check/cockpit then sends commands
# programs: cockpit-ws cockpit-bridge cockpit-system sudo
# start: snapshot
# timeout: 600

# A user who may become root by sudo, as Cockpit's administrative access does.
make_visitor() {
  echo 'u visitor - "Visitor" /home/visitor /bin/bash' | systemd-sysusers -
  install -d -o visitor -g visitor /home/visitor
  echo 'visitor ALL=(ALL:ALL) NOPASSWD: ALL' >/etc/sudoers.d/visitor
}
# The session is started without a login, as there is no password to type.
start_cockpit() {
  ip address add 10.0.2.15/24 dev ens15
  ip link set ens15 up
  systemd-run --quiet --unit=cockpit-lab --uid=visitor --working-directory=/home/visitor --setenv=LANG=C.UTF-8 \
    /usr/lib/cockpit/cockpit-ws --no-tls --port 9090 --local-session=cockpit-bridge
  wait_until 60 "Cockpit listens" sh -c 'ss -ltn | grep -q ":9090 "'
}
start_made_up_agent() { # HEALTH, in JSON: an agent that always answers with it
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
  # The package's dependencies are also present only as files.
  dpkg-deb -x cockpit/*.deb /
  make_visitor
  start_cockpit
  host forward 9090 >cockpit.port
  follow
}
