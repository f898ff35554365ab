# SPDX-License-Identifier: GPL-2.0-or-later
# summary: SELinux, enforcing from the start of the boot: installation, cold boot, reload, configuration, guestinfo, metrics, exports: no denial
# install: manual
# boots: 2
# kernel: lsm=landlock,lockdown,yama,selinux enforcing=1

# The policy is Debian's, and the image's files have its labels (image/finish-rootfs). In it, services that have no domain of their
# own run as initrc_t, which is unconfined.

domain_of() { tr -d '\0' <"/proc/$1/attr/current"; } # PID
# As in a login. The output goes through a pipe because some domains may not write to the runner's port.
administrator() { runcon unconfined_u:unconfined_r:unconfined_t:s0 "$@" </dev/null 2>&1 | cat; }
user() { administrator setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }

# The policy lacks rules for Debian's own udev and systemd-tmpfiles, and programs that the runner starts in other domains may use
# neither its ports nor its files.
others=':(udev_t|systemd_tmpfiles_t):|path="/(dev/vport|run/lab)|comm="bash" name="63"'
denials() { administrator sh -c 'journalctl -b -q -o cat _TRANSPORT=audit; dmesg' | grep 'avc: *denied' | grep -vE "$others"; }

installation() {
  administrator env DEBIAN_FRONTEND=noninteractive dpkg -i debs/*.deb
  expect "the installation has started the agent" unit_active pvrdma-agent.service
  expect_equal "files whose label is not the policy's" "" "$(dpkg -L pvrdma-agent | restorecon -n -v -f - 2>&1)"
  wait_until 60 "health says ready" health_is ready
}

cold_boot() {
  wait_until 60 "health says ready" health_is ready
  expect_equal "the port" ACTIVE "$(port_state 0)"
  expect_equal "the agent's domain" system_u:system_r:initrc_t:s0 "$(domain_of "$(agent_pid)")"
  expect_equal "restarts of the agent" 0 "$(systemctl show -P NRestarts pvrdma-agent.service)"
  expect "a user asks for health" grep -q '^READY' <(user pvrdma-agentctl health)
}

# The executor loads modules, reloads the driver, and brings the link up.
operations() {
  guestinfo_standin
  printf '[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.201/24"]\n' | guestinfo
  printf 'guestinfo.enabled = true\n[modules]\nbefore = ["dummy"]\n' | agent_config
  systemctl restart pvrdma-agent.service
  wait_until 20 "the address of guestinfo is set" has_ipv4 ens16f0 192.168.30.201/24
  modprobe -r vmw_pvrdma
  wait_until 30 "the module of the configuration is loaded" module_loaded dummy
  wait_until 30 "health says ready" health_is ready
  expect "a reload" sh -c "pvrdma-agentctl reload | grep '^reloaded'"
  expect_equal "the executor's domain" system_u:system_r:initrc_t:s0 "$(domain_of "$(main_pid pvrdma-agent-executor.service)")"
  ip link set ens16f0 down
  wait_until 30 "the link is up again" netdev_up 0
  wait_until 30 "health says ready" health_is ready
  : >/etc/pvrdma-agent/pvrdma-agent.toml
  systemctl reload pvrdma-agent.service
  wait_until 20 "the configuration is read again: the address is removed" has_no_ipv4 ens16f0 192.168.30.201/24
}

integrations() {
  systemctl start pvrdma-agent-{wait-online,metrics,cdi,nfd,report}.service
  expect "metrics" grep -q '^pvrdma_state{state="ready"} 1' /run/pvrdma-agent-metrics/pvrdma.prom
  expect "devices for containers" test -s /run/cdi/pvrdma.io-adapter.json
  expect "labels for Kubernetes" grep -qx pvrdma.io/ready=true /etc/kubernetes/node-feature-discovery/features.d/pvrdma
  pvrdma-agentctl report >report.out 2>&1
  expect "doctor finds nothing to do" pvrdma-agentctl doctor
  # migrate replaces the file by a new one.
  printf '#!/bin/sh\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n' >/etc/rc.local
  chmod 755 /etc/rc.local
  chcon -t initrc_exec_t /etc/rc.local
  pvrdma-agentctl migrate --apply
  expect "migrate has changed the file" grep -q '^#pvrdma-agent#' /etc/rc.local
  expect_equal "the file's type" initrc_exec_t "$(stat -c %C /etc/rc.local | cut -d: -f3)"
}

# A confined domain may not use the agent's socket. packaging/README.md says so, and here it shows that denials are found.
confined_program() {
  install /usr/bin/pvrdma-agentctl /usr/local/bin/confined
  chcon -t nrpe_exec_t /usr/local/bin/confined
  expect_not "a program in nrpe_t gets no answer" confined health
  wait_until 10 "the denial is found" grep -q ':nrpe_t:' <(denials)
}

scenario() {
  wait_boot
  expect_equal "SELinux" Enforcing "$(getenforce)"
  if ((BOOT == 1)); then
    installation
  else
    cold_boot
    operations
    integrations
  fi
  expect_not "no denial is ours" denials
  ((BOOT == 1)) || confined_program
}
