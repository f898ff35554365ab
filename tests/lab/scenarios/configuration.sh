# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a bad configuration changes nothing: one line names the fault, and the good configuration stays in use
# adapters: 1
# start: snapshot

bad='[modules]
reload = "sometimes"'
good='[modules]
reload = "never"'

config() { printf '%s\n' "$1" >/etc/pvrdma-agent/pvrdma-agent.toml; }

refused() { finding action-refused | grep -q -- "$1"; }

# The executor reads the configuration for each request, the agent at its start and on SIGHUP.
not_read_again() {
  config "$bad"$'\n[[adapter]]\nmanage = "observe"'
  ip link set "$(netdev_of 0)" down
  wait_until 15 "a request that the executor refuses is a finding, with the executor's reason" refused 'pvrdma-agent.toml:2: modules.reload'
  expect "the finding has the remedy" refused 'systemctl reload pvrdma-agent'
  expect_not "the link stays down, as the file has the word observe" netdev_up 0
  config "$bad"
  wait_until 15 "without the word observe the executor brings the link up" netdev_up 0
  config '[modules]
before = ["dummy"]'
  systemctl reload pvrdma-agent.service
  wait_until 30 "mended: the module that the file names is loaded" module_loaded dummy
  wait_until 30 "ready" health_is ready
  expect "the finding has ended" no_finding action-refused
  rm /etc/pvrdma-agent/pvrdma-agent.toml
  modprobe -r vmw_pvrdma
  modprobe -r dummy
  wait_until 15 "a module that the file no longer names is refused" refused dummy
  wait_until 15 "the driver is loaded nevertheless" module_loaded vmw_pvrdma
  expect_not "the refused module is not loaded" module_loaded dummy
  systemctl reload pvrdma-agent.service
  wait_until 30 "read again: ready" health_is ready
  expect "the finding has ended" no_finding action-refused
}

# By the agent, whose configuration has been invalid since its start, or by the executor. The agent may have another operation under way
# at first.
refused_to_reload() { ! pvrdma-agentctl reload >said 2>&1 && grep -F 'not reloaded: the configuration is invalid' said; }
does_not_reload() { # DESCRIPTION
  local driver
  driver=$(stat -c %i /sys/module/vmw_pvrdma)
  wait_until 10 "$1" refused_to_reload
  expect_equal "the driver was not reloaded" "$driver" "$(stat -c %i /sys/module/vmw_pvrdma)"
}

says() { finding config-bad | gojq -er .summary | grep -F -e "$1"; }

# As at a boot with a bad file: the port comes up, and the agent does nothing that the file may have forbidden. The
# executor, which is root, can read the file that the agent cannot, and finds no word in it that forbids this.
bad_from_the_beginning() { # DROP-IN MODE COMPLAINT <TOML
  systemctl stop pvrdma-agent.service
  ip address flush dev ens16f0 scope global
  ip link set ens16f0 down mtu 1500
  modprobe -r vmw_pvrdma rdma_ucm
  install -m "$2" /dev/stdin "/etc/pvrdma-agent/pvrdma-agent.toml.d/$1"
  expect "$1: it starts" systemctl start pvrdma-agent.service
  wait_until 30 "$1: the finding names file and line" says "$3"
  wait_until 30 "the driver is loaded" module_live vmw_pvrdma
  wait_until 15 "the modules that must precede it are loaded" module_loaded rdma_ucm
  wait_until 30 "the link is up" netdev_up 0
  wait_until 30 "the port is ACTIVE" port_is 0 ACTIVE
  wait_until 10 "degraded" health_is degraded
  expect_equal "the MTU is left" 1500 "$(cat /sys/class/net/ens16f0/mtu)"
  expect "no address is set" has_no_ipv4 ens16f0 192.168.30.201/24
  does_not_reload "a reload is refused"
  rm "/etc/pvrdma-agent/pvrdma-agent.toml.d/$1"
  wait_until 60 "the file is mended: the agent applies it by itself" has_ipv4 ens16f0 192.168.30.201/24
  expect_equal "the MTU as well" 4000 "$(cat /sys/class/net/ens16f0/mtu)"
  wait_until 30 "ready" health_is ready
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  local pid
  pid=$(agent_pid)
  mkdir -p /etc/pvrdma-agent
  config "$bad"
  expect_equal "--check-config" 1 "$(pvrdma-agent --check-config >/dev/null 2>complaint; echo $?)"
  cat complaint
  expect_equal "one line" 1 "$(wc -l <complaint)"
  expect "the complaint has file, line, key, value and the allowed words" \
    grep -E '^/etc/pvrdma-agent/pvrdma-agent.toml:2: modules.reload = "sometimes".*auto.*always.*never' complaint
  chmod 640 /etc/pvrdma-agent/pvrdma-agent.toml
  expect_equal "--check-config of a file that only root may read: status" 1 "$(pvrdma-agent --check-config >/dev/null 2>complaint; echo $?)"
  expect "the complaint says that the agent may not read it" grep -E 'pvrdma-agent.toml: cannot be read: Permission denied; .* o\+r' complaint
  chmod 644 /etc/pvrdma-agent/pvrdma-agent.toml
  systemctl reload pvrdma-agent.service
  wait_until 10 "a finding says so" finding config-bad
  expect_equal "the same process goes on" "$pid" "$(agent_pid)"
  does_not_reload "the executor refuses to act on it"
  config "$good"
  kill -HUP "$pid"
  wait_until 10 "the file is mended: the finding ends" no_finding config-bad
  wait_until 10 "the new configuration is in use" sh -c 'pvrdma-agentctl reload 2>&1 | grep -q never'
  config '[[adapter]]
match     = { netdev = "ens16f0" }
mtu       = 4000
addresses = ["192.168.30.201/24"]'
  mkdir -p /etc/pvrdma-agent/pvrdma-agent.toml.d
  bad_from_the_beginning 50-typo.toml 644 'pvrdma-agent.toml.d/50-typo.toml:2: modules.relaod' <<<$'[modules]\nrelaod = "never"'
  bad_from_the_beginning 60-closed.toml 600 'pvrdma-agent.toml.d/60-closed.toml: cannot be read: Permission denied' \
    <<<'readiness.adapters = 1'
  rm -r /etc/pvrdma-agent/pvrdma-agent.toml.d /etc/pvrdma-agent/pvrdma-agent.toml
  systemctl reload pvrdma-agent.service
  wait_until 30 "ready" health_is ready
  not_read_again
}
