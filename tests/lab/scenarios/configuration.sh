# summary: a bad configuration changes nothing: one line that says what is wrong, and the good one stays in force
# adapters: 1
# start: snapshot

bad='[modules]
reload = "sometimes"'
good='[modules]
reload = "never"'

config() { printf '%s\n' "$1" >/etc/pvrdma-agent/pvrdma-agent.toml; }

refused() { finding action-refused | grep -q -- "$1"; }

# The executor reads the configuration for each request, the agent when it is told to.
not_read_again() {
  config "$bad"
  ip link set "$(netdev_of 0)" down
  wait_until 15 "what the executor refuses is a finding, with its words" refused 'pvrdma-agent.toml:2: modules.reload'
  expect "and the remedy" refused 'systemctl reload pvrdma-agent'
  expect_not "the link stays down" netdev_up 0
  config '[modules]
before = ["dummy"]'
  systemctl reload pvrdma-agent.service
  wait_until 30 "mended: ready" health_is ready
  expect "with another module before the driver" module_loaded dummy
  expect "and the finding is gone" no_finding action-refused
  rm /etc/pvrdma-agent/pvrdma-agent.toml
  modprobe -r vmw_pvrdma
  modprobe -r dummy
  wait_until 15 "a module that the file names no more is refused" refused dummy
  wait_until 15 "which keeps the driver from nothing" module_loaded vmw_pvrdma
  expect_not "that module stays out" module_loaded dummy
  systemctl reload pvrdma-agent.service
  wait_until 30 "read again: ready" health_is ready
  expect "and the finding is gone" no_finding action-refused
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
  expect "with file, line, key, value and what is allowed" \
    grep -E '^/etc/pvrdma-agent/pvrdma-agent.toml:2: modules.reload = "sometimes".*auto.*always.*never' complaint
  chmod 640 /etc/pvrdma-agent/pvrdma-agent.toml
  expect_equal "--check-config of what root alone may read" 1 "$(pvrdma-agent --check-config >/dev/null 2>complaint; echo $?)"
  expect "says that the agent may not" grep -E 'pvrdma-agent.toml: cannot be read: Permission denied; .* o\+r' complaint
  chmod 644 /etc/pvrdma-agent/pvrdma-agent.toml
  systemctl reload pvrdma-agent.service
  wait_until 10 "a finding says so" finding config-bad
  expect_equal "the same process goes on" "$pid" "$(agent_pid)"
  expect "the executor refuses to act on it" [ "$(pvrdma-agentctl reload >/dev/null 2>&1; echo $?)" != 0 ]
  config "$good"
  kill -HUP "$pid"
  wait_until 10 "mended, the finding is gone" no_finding config-bad
  wait_until 10 "and the new one is in force" sh -c 'pvrdma-agentctl reload 2>&1 | grep -q never'
  config "$bad"
  systemctl stop pvrdma-agent.service
  expect_not "nothing starts on it" systemctl start pvrdma-agent.service
  expect "and it is not tried again and again" [ "$(systemctl show -P NRestarts pvrdma-agent.service)" = 0 ]
  config "$good"
  expect "with a good one it starts" systemctl start pvrdma-agent.service
  rm /etc/pvrdma-agent/pvrdma-agent.toml
  systemctl reload pvrdma-agent.service
  wait_until 30 "ready" health_is ready
  not_read_again
}
