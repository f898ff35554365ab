# SPDX-License-Identifier: GPL-2.0-or-later
# summary: report: one JSON document, bounded in time, whatever hangs; for root and for anybody; never a file's content
# adapters: 1
# nics: 1
# network: yes
# timeout: 400

# A bound for the whole of it, the end of what hangs included, on an emulated CPU.
most_ms=75000

# made COMMAND…: the document in ./said, its status in $status, within its time
made() {
  local start took
  status=0
  start=$(uptime_ms)
  "$@" >said 2>complaint || status=$?
  took=$(($(uptime_ms) - start))
  cat complaint
  gojq -r '.errors | to_entries[] | "\(.key): \(.value)"' said
  expect "$*: within its time ($took ms)" [ "$took" -le $most_ms ]
  expect_equal "$*: status, complaints" "0 0" "$status $(wc -c <complaint)"
}
told() { gojq -r "$1" said; } # FILTER
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
as_agent() { setpriv --reuid pvrdma-agent --regid pvrdma-agent --clear-groups "$@"; }

whole() {
  made pvrdma-agentctl report
  expect_equal "nothing is missing" "{}" "$(told '.errors | tojson')"
  expect_equal "made by root" true "$(told .as_root)"
  expect_equal "health, plan, verdict" "ready 0 ready" "$(told '"\(.health.state) \(.plan.actions | length) \(.doctor.state)"')"
  expect "boots and the next one" gojq -e '(.boots.boots | length) > 0 and (.next_boot.kernels | length) > 0' said
  expect_equal "kernel" "Linux $(uname -r)" "$(told .system.kernel)"
  expect_equal "the file of the configuration, its owner and mode" "/etc/pvrdma-agent/pvrdma-agent.toml 0 0 0644" \
    "$(told '.configuration.files[] | "\(.path) \(.uid) \(.gid) \(.mode)"')"
  expect_equal "its values" 192.168.30.201/24 "$(told '.configuration.values.adapter[].addresses[]')"
  expect_not "not its text" grep -q s3cr3tVALUE said
}

refused() {
  pvrdma-agentctl report -o first
  expect_equal "only root may read it" 600 "$(stat -c %a first)"
  expect "it is the document" gojq -e '.health.state == "ready"' first
  cp first kept
  status=0
  pvrdma-agentctl report -o first 2>said || status=$?
  expect_equal "a file that is there: status" 3 $status
  expect "and it is as it was" cmp first kept
  status=0
  pvrdma-agentctl report --redact >out 2>said || status=$?
  expect_equal "it masks nothing: status, nothing printed" "3 0" "$status $(wc -c <out)"
  expect "and says what does" grep -q 'sos clean' said
}

# Whoever has taken over the agent's user writes where that may write.
hostile() {
  local hash
  echo 'root:$6$labsalt$labhash' | chpasswd -e
  hash=labhash
  mkdir -p /run/pvrdma-agent/pvrdma-agent.toml.d
  chown pvrdma-agent: /run/pvrdma-agent/pvrdma-agent.toml.d
  as_agent ln -s /etc/shadow /run/pvrdma-agent/pvrdma-agent.toml.d/90-lab.toml
  as_agent ln -s /etc/shadow /run/pvrdma-agent/pvrdma-agent.toml || true
  status=0
  pvrdma-agentctl report >said 2>complaint || status=$?
  expect_equal "root's report: status" 0 $status
  expect_not "the hash is not in it" grep -q $hash said complaint
  rm -rf /run/pvrdma-agent/pvrdma-agent.toml.d /run/pvrdma-agent/pvrdma-agent.toml
}

unprivileged() {
  install -d -o nobody nobodys
  cd nobodys
  made as_nobody pvrdma-agentctl report
  expect_equal "says so" false "$(told .as_root)"
  expect_equal "health and doctor are there" "ready ready" "$(told '"\(.health.state) \(.doctor.state)"')"
  cd ..
}

agent_hangs() {
  local pid
  pid=$(agent_pid)
  kill -STOP "$pid"
  made pvrdma-agentctl report
  expect_equal "health is not known, which doctor sees for itself" "unknown ready" "$(told '"\(.health.state) \(.doctor.state)"')"
  expect "the rest is there" gojq -e '.boots != null and .next_boot != null' said
  kill -CONT "$pid"
}

without_agent() {
  systemctl stop pvrdma-agent.service
  made pvrdma-agentctl report
  expect_equal "health is not known, the rest is there" "unknown ready" "$(told '"\(.health.state) \(.doctor.state)"')"
}

in_kernel() { grep -q '^State:.D' "/proc/$1/status"; } # PID
# A real one, that no signal ends: the driver's removal waits in the kernel for the job.
kernel_hangs() {
  start_job 0
  function_of 0 >/sys/bus/pci/drivers/vmw_pvrdma/unbind &
  wait_until 20 "the unbind waits" in_kernel $!
  made pvrdma-agentctl report
  expect "the rest is there" gojq -e '.configuration != null and .next_boot != null' said
}

scenario() {
  agent_config <<'T'
# token = s3cr3tVALUE
[[adapter]]
match = { pci = "0000:00:10.1" }
addresses = ["192.168.30.201/24"]
T
  systemctl restart pvrdma-agent.service
  wait_boot
  wait_until 60 "ready" health_is ready
  wait_until 30 "with its address" has_ipv4 "$(netdev_of 0)" 192.168.30.201
  whole
  refused
  unprivileged
  hostile
  agent_hangs
  without_agent
  kernel_hangs
}
