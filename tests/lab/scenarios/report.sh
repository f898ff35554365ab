# SPDX-License-Identifier: GPL-2.0-or-later
# summary: report: one JSON document within its time, also if a part hangs; for root and for any user; never with a file's content
# adapters: 1
# start: snapshot
# nics: 1
# network: yes
# timeout: 400

# The limit for the whole report on an emulated CPU, with the time to end parts that hang.
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
  expect_equal "no part is missing" "{}" "$(told '.errors | tojson')"
  expect_equal "made by root" true "$(told .as_root)"
  expect_equal "health, plan, verdict" "ready 0 ready" "$(told '"\(.health.state) \(.plan.actions | length) \(.doctor.state)"')"
  expect "the report has boots and the next boot" gojq -e '(.boots.boots | length) > 0 and (.next_boot.kernels | length) > 0' said
  expect_equal "kernel" "Linux $(uname -r)" "$(told .system.kernel)"
  expect_equal "the file of the configuration, its owner and mode" "/etc/pvrdma-agent/pvrdma-agent.toml 0 0 0644" \
    "$(told '.configuration.files[] | "\(.path) \(.uid) \(.gid) \(.mode)"')"
  expect_equal "its values" 192.168.30.201/24 "$(told '.configuration.values.adapter[].addresses[]')"
  expect_not "the report has no text of the file" grep -q s3cr3tVALUE said
}

refused() {
  pvrdma-agentctl report -o first
  expect_equal "only root may read it" 600 "$(stat -c %a first)"
  expect "the file has the document" gojq -e '.health.state == "ready"' first
  cp first kept
  status=0
  pvrdma-agentctl report -o first 2>said || status=$?
  expect_equal "a file that exists already: status" 3 $status
  expect "the file is unchanged" cmp first kept
  status=0
  pvrdma-agentctl report --redact >out 2>said || status=$?
  expect_equal "the option --redact is refused: status, nothing printed" "3 0" "$status $(wc -c <out)"
  expect "the message names sos clean" grep -q 'sos clean' said
}

# An attacker with the agent's user can write its files.
hostile() {
  local hash
  echo 'root:$6$labsalt$labhash' | chpasswd -e
  hash=labhash
  install -d -o pvrdma-agent /run/pvrdma-agent-config /run/pvrdma-agent-config/pvrdma-agent.toml.d
  as_agent ln -s /etc/shadow /run/pvrdma-agent-config/pvrdma-agent.toml.d/90-lab.toml
  as_agent ln -s /etc/shadow /run/pvrdma-agent-config/pvrdma-agent.toml
  status=0
  pvrdma-agentctl report >said 2>complaint || status=$?
  expect_equal "root's report: status" 0 $status
  expect_not "the hash is not in the report" grep -q $hash said complaint
  expect "the report names the folder that is not trusted" grep -q pvrdma-agent-config said
  rm -r /run/pvrdma-agent-config
}

unprivileged() {
  install -d -o nobody nobodys
  cd nobodys
  made as_nobody pvrdma-agentctl report
  expect_equal "says so" false "$(told .as_root)"
  expect_equal "the report has health and doctor" "ready ready" "$(told '"\(.health.state) \(.doctor.state)"')"
  cd ..
}

agent_hangs() {
  local pid
  pid=$(agent_pid)
  kill -STOP "$pid"
  made pvrdma-agentctl report
  expect_equal "health is unknown, and doctor looks itself" "unknown ready" "$(told '"\(.health.state) \(.doctor.state)"')"
  expect "the other parts are there" gojq -e '.boots != null and .next_boot != null' said
  kill -CONT "$pid"
}

without_agent() {
  systemctl stop pvrdma-agent.service
  made pvrdma-agentctl report
  expect_equal "health is unknown, doctor is there" "unknown ready" "$(told '"\(.health.state) \(.doctor.state)"')"
}

in_kernel() { grep -q '^State:.D' "/proc/$1/status"; } # PID
# A process that no signal ends: the driver's removal waits in the kernel for the job.
kernel_hangs() {
  start_job 0
  function_of 0 >/sys/bus/pci/drivers/vmw_pvrdma/unbind &
  wait_until 20 "the unbind waits" in_kernel $!
  made pvrdma-agentctl report
  expect "the other parts are there" gojq -e '.configuration != null and .next_boot != null' said
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
  wait_until 30 "the address is set" has_ipv4 "$(netdev_of 0)" 192.168.30.201
  whole
  refused
  unprivileged
  hostile
  agent_hangs
  without_agent
  kernel_hangs
}
