# summary: report: bounded in time and size, whatever hangs or floods; redacted, nothing of the machine is left in it; without agent or root
# adapters: 1
# nics: 1
# network: yes
# timeout: 600

# A bound for the whole of it, the end of what hangs and the archive itself included, on an emulated CPU.
most_ms=75000

# made OPTION…: what it says in ./said, its status in $status, within its time
made() {
  local start took
  status=0
  start=$(uptime_ms)
  pvrdma-agentctl report "$@" >said 2>complaint || status=$?
  took=$(($(uptime_ms) - start))
  cat said complaint
  expect "report $*: within its time ($took ms)" [ "$took" -le $most_ms ]
}
unpack() { # ARCHIVE
  rm -rf unpacked
  mkdir unpacked
  bsdtar -xf "$1" --strip-components 1 -C unpacked
}
manifest() { jq -r "$@" unpacked/manifest.json; }
outcome() { manifest --arg name "$1" '.parts[] | select(.name == $name) | .outcome'; } # NAME OF A PART
holds() { # PART TEXT…
  local part=$1 text
  shift
  for text; do expect "$part has '$text'" grep -qF -e "$text" "unpacked/$part"; done
}

# What tells this machine from others, a line each, as the kernel and files have it.
secrets_of_machine() {
  cat /sys/class/net/*/address | grep -v '^00:00:00:00:00:00$'
  cat /sys/class/net/*/address | grep -v '^00:00:00:00:00:00$' | tr -d :
  ip -o addr | awk '{ sub("/.*", "", $4); print $4 }' | grep -vE '^(127\.|::1$)'
  grep -h . /sys/class/infiniband/*/ports/1/gids/* 2>/dev/null | grep -v '^0000:0000:0000:0000:0000:0000:0000:0000$' || true
  # A GID's second half is that of the MAC.
  grep -h . /sys/class/infiniband/*/ports/1/gids/* 2>/dev/null | cut -d: -f5- | grep -v '^0000:0000:0000:0000$' || true
  cat /sys/class/infiniband/*/node_guid
  cat /etc/machine-id
  hostname
  echo alice
  echo s3cr3tVALUE
}

whole() {
  made
  expect_equal "its status" 0 $status
  local file
  file=$(echo "pvrdma-agent-report-$(hostname)-"*.tar.zst)
  expect_equal "only root may read it" 600 "$(stat -c %a "$file")"
  expect "the last line tells what is missing" sh -c 'tail -n 1 said | grep -qE "^(missing: |nothing is missing)"'
  unpack "$file"
  manifest '.parts[] | "\(.outcome) \(.name) \(.took_ms) ms, \(.bytes) bytes \(.reason // "")"'
  expect_equal "nothing is missing but what this guest has not" "" "$(manifest '.parts[] | select(.missed) | .name')"
  expect_equal "made by root, not redacted" "true false" "$(manifest '"\(.as_root) \(.redacted)"')"
  expect_equal "health" ready "$(jq -r .state unpacked/agent/health.json)"
  expect "plan" jq -e '.actions | length == 0' unpacked/agent/plan.json
  holds log/agent.txt pvrdma-agent
  holds log/kernel.txt vmw_pvrdma vmxnet3
  holds rdma/link.txt "$(rdma_of 0)" ACTIVE
  holds ibv/devinfo.txt "$(rdma_of 0)" PORT_ACTIVE
  holds "sysfs/$(rdma_of 0).txt" ACTIVE
  holds ip/address.txt 192.168.30.201 "$(cat "/sys/class/net/$(netdev_of 0)/address")"
  holds pci/rdma.txt 15ad:0820
  holds modules/vmw_pvrdma.txt vmw_pvrdma.ko
  holds files/etc/pvrdma-agent/pvrdma-agent.toml 192.168.30.201/24
  cp "$file" first
  secrets_of_machine | sort -u >secrets
  cat secrets
  local found=0 one
  while read -r one; do ! grep -rqFi -e "$one" unpacked || found=$((found + 1)); done <secrets
  expect "$found of $(wc -l <secrets) values of this machine are in it" [ "$found" -ge 8 ]
}

nothing_is_left() {
  local one
  while read -r one; do
    expect_not "no '$one' in it" grep -rFi -e "$one" unpacked
  done <secrets
}
redacted() {
  local names
  mkdir redacted
  cd redacted
  made --redact
  expect_equal "its status" 0 $status
  names=$(echo pvrdma-agent-report-*.tar.zst)
  expect_not "its name does not tell the host's" sh -c "echo $names | grep -q $(hostname)"
  unpack "$names"
  cp ../secrets .
  nothing_is_left
  holds ip/address.txt "inet ipv4-" "link/ether mac-"
  holds files/etc/pvrdma-agent/pvrdma-agent.toml "ipv4-" "secret-"
  holds modules/vmxnet3.txt "version:        $(modinfo -F version vmxnet3)"
  expect "what belongs together is still seen" sh -c '
    grep -qF "$(grep -oE "ipv4-[0-9]+" unpacked/files/etc/pvrdma-agent/pvrdma-agent.toml | head -n 1)" unpacked/ip/address.txt'
  cd ..
}

wedged() {
  mkdir bad
  printf '#!/bin/sh\nsleep 98765 &\nwait\n' >bad/rdma
  printf '#!/bin/sh\nexec yes 192.168.30.201\n' >bad/ip
  chmod +x bad/*
  PATH=$PWD/bad:$PATH made --output wedged --redact
  expect_equal "its status" 0 $status
  expect "what hangs is named" grep -q '^missing: .*rdma/dev.txt (not done in ' said
  unpack wedged
  expect_equal "it cost its time once" "timed-out skipped" "$(outcome rdma/dev.txt) $(outcome rdma/link.txt)"
  expect_equal "what floods is cut" true "$(manifest '.parts[] | select(.name == "ip/address.txt") | .truncated')"
  expect_equal "the rest is there" good "$(outcome ibv/devinfo.txt)"
  expect_not "nothing of it is left running" pgrep -f 'sleep 98765|yes 192'
  nothing_is_left

  PATH=$PWD/bad:$PATH pvrdma-agentctl report --output interrupted >said 2>&1 &
  local job=$!
  wait_until 60 "it hangs in rdma" pgrep -f 'sleep 98765'
  kill "$job"
  status=0
  wait "$job" || status=$?
  cat said
  expect_not "interrupted, it fails" [ "$status" = 0 ]
  expect_not "without a file" test -e interrupted
  expect_not "and leaves nothing running" pgrep -f 'sleep 98765'
}

refused() {
  made --output first
  expect_equal "a file that is there: status" 3 $status
  expect "and it is as it was" cmp first "$(echo "pvrdma-agent-report-$(hostname)-"*.tar.zst)"
  pvrdma-agentctl report --output - 2>complaint | bsdtar -tf - | grep -c . >count
  expect "to standard output: $(cat count) files" [ "$(cat count)" -gt 20 ]
  expect "not to a terminal" sh -c 'script -qec "pvrdma-agentctl report --output -" /dev/null | grep -q "not written to a terminal"'
}

unprivileged() {
  install -d -o nobody nobodys
  cd nobodys
  status=0
  setpriv --reuid nobody --regid nogroup --clear-groups pvrdma-agentctl report --output mine >said || status=$?
  cat said
  expect_equal "without root: status" 0 $status
  unpack mine
  expect_equal "says so" false "$(manifest .as_root)"
  expect "also in words" grep -q '^not made as root' said
  expect_equal "health is there" good "$(outcome agent/health.json)"
  cd ..
}

without_agent() {
  systemctl stop pvrdma-agent.service
  made --output stopped
  expect_equal "without the agent: status" 0 $status
  unpack stopped
  expect_equal "health failed, and the rest is there" "failed good good" \
    "$(outcome agent/health.json) $(outcome agent/plan.json) $(outcome rdma/link.txt)"
}

in_kernel() { grep -q '^State:.D' "/proc/$1/status"; } # PID
# A real one, that no signal ends: the driver's removal waits in the kernel for the job.
kernel_hangs() {
  start_job 0
  function_of 0 >/sys/bus/pci/drivers/vmw_pvrdma/unbind &
  wait_until 20 "the unbind waits" in_kernel $!
  made --output hung
  expect_equal "with a driver that hangs: status" 0 $status
  unpack hung
  manifest '.parts[] | select(.outcome != "good") | "\(.outcome) \(.name) \(.took_ms) ms \(.reason // "")"'
  expect_equal "the rest is there" "good good" "$(outcome ip/address.txt) $(outcome log/kernel.txt)"
}

scenario() {
  agent_config <<'T'
# of /home/alice/adapters
# token = s3cr3tVALUE
[[adapter]]
match = { pci = "0000:00:10.1" }
addresses = ["192.168.30.201/24"]
T
  useradd -m alice
  systemctl restart pvrdma-agent.service
  wait_boot
  wait_until 60 "ready" health_is ready
  wait_until 30 "with its address" has_ipv4 "$(netdev_of 0)" 192.168.30.201
  whole
  redacted
  wedged
  refused
  unprivileged
  without_agent
  kernel_hangs
}
