# Sourced by the boot scenarios: records every change of the port's state with the uptime, from early boot on, the
# same way in all of them. Sysfs sends no event for a port, so it looks every 20 ms.
# shellcheck shell=bash

install_poller() {
  cat >/usr/local/sbin/port-poller <<'P'
#!/bin/bash
exec 8<> <(:)
last=
while :; do
  # By the function, as udev renames the device.
  state=gone
  for file in /sys/bus/pci/devices/0000:00:10.1/infiniband/*/ports/1/state; do
    { read -r state <"$file"; } 2>/dev/null || true
  done
  if [[ $last != "$state" ]]; then
    last=$state
    read -r uptime _ </proc/uptime
    echo "$uptime ${state#*: }" >>/run/port-changes
  fi
  read -r -t 0.02 -u 8
done
P
  chmod 755 /usr/local/sbin/port-poller
  cat >/etc/systemd/system/port-poller.service <<'U'
[Unit]
DefaultDependencies=no
[Service]
ExecStart=/usr/local/sbin/port-poller
[Install]
WantedBy=sysinit.target
U
  systemctl enable port-poller.service
}

# networkd brings the link up and gives it an address, in all three alike.
install_network() {
  cat >/etc/systemd/network/10-rdma.network <<'N'
[Match]
Name=ens16f0
[Network]
Address=192.168.30.201/24
N
  systemctl enable systemd-networkd.service
}

# Uptime of the last change to ACTIVE, once nothing has changed for a while and the boot is over.
report_active() {
  wait_boot 90
  wait_until 60 "the port is ACTIVE" port_is 0 ACTIVE
  holds_for 5 "and stays so" port_is 0 ACTIVE
  cat /run/port-changes
  # networkd takes a link that is up down for some 15 ms while it configures it, too short for the poller to see.
  echo "BENCH $1-networkd-up $(journalctl -b -o short-monotonic --no-pager -u systemd-networkd |
    sed -n 's/^\[ *\([0-9.]*\)\].* ens16f0: Link UP$/\1/p' | tail -n 1)"
  echo "BENCH $1 $(awk '$2 == "ACTIVE" { last = $1 } END { print last }' /run/port-changes)"
}
