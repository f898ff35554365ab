# summary: install, upgrade, remove and purge change no module, link or address; purge leaves nothing behind
# adapters: 1
# install: manual
# timeout: 240

kernel_state() {
  awk '{ print $1 }' /proc/modules | sort
  stat -c %i /sys/module/vmw_pvrdma
  ip -o -br link show
  ip -o addr show | sed 's/valid_lft.*//'
}
# What package management itself keeps, logs and times is not ours.
files() {
  find / -xdev \( -path /var/lib/dpkg -o -path /var/log -o -path /var/cache -o -path /var/lib/systemd -o -path /tmp -o -path /var/tmp \
    -o -path /proc -o -path /sys -o -path /run/lab \) -prune -o -print | sort
  find /run -xdev -path /run/udev -prune -o -path '*pvrdma*' -print
  getent passwd
}

scenario() {
  wait_boot
  # dpkg's first use makes files of its own (diversions, backups of passwd): let it.
  files >files.before
  dpkg -i debs/*.deb
  wait_until 60 "installed: health says ready" health_is ready
  expect "enabled for the next boot" systemctl is-enabled pvrdma-agent.service
  expect "its messages are explained" sh -c 'journalctl -x -u pvrdma-agent | grep -q "man:pvrdma-agentctl(1)"'
  wait_until 20 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  ip addr add 192.168.30.201/24 dev ens16f0
  kernel_state >before
  start_job 0
  dpkg -i debs/*.deb
  wait_until 30 "upgraded: health says ready" health_is ready
  expect "an upgrade changes nothing" diff before <(kernel_state)
  dpkg -r pvrdma-agent
  expect "a removal changes nothing" diff before <(kernel_state)
  expect_not "the service is gone" systemctl is-active pvrdma-agent.service
  dpkg -i debs/*.deb
  dpkg -P pvrdma-agent
  expect_not "the catalog's index forgets them" sh -c 'journalctl --list-catalog | grep -q pvrdma-agent'
  expect "a purge changes nothing" diff before <(kernel_state)
  expect "the job goes on" kill -0 "$job"
  expect_equal "and has seen nothing" 0 "$(grep -c event_type events || true)"
  kill "$job"
  files >files.after
  expect "purge leaves nothing behind" diff files.before files.after
}
