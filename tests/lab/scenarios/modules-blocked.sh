# SPDX-License-Identifier: GPL-2.0-or-later
# summary: what keeps the driver away is named with file and line, by health, doctor and for the next boot: a hardening guide's line about a module that vmw_pvrdma needs, and a driver that takes the function by its ID
# adapters: 1
# start: snapshot

guide=/etc/modprobe.d/60-hardening.conf

names_line() { # LINE COMMAND…: what the command prints names that line of the guide
  local line=$1
  shift
  { "$@" || true; } | tr -s ' \n' ' ' | grep -qF "$guide:$line"
}
take_out() { # MODULE…: as far as each is there
  local module
  for module; do
    [[ ! -e /sys/module/$module ]] || modprobe -r "$module" || true
  done
}

blocked() {
  systemctl stop pvrdma-agent.service
  take_out vmw_pvrdma rdma_ucm rdma_cm iw_cm ib_cm ib_umad mlx4_ib ib_uverbs ib_core
  expect_not "blocked: nothing of RDMA is loaded" module_loaded ib_core
  printf '# RDMA is not used here\ninstall ib_core /bin/true\n' >"$guide"
  systemctl start pvrdma-agent.service
  wait_until 60 "blocked: a finding names it" finding module-blocked
  expect "blocked: health is failed" health_is failed
  expect "blocked: the module and the line that keeps it away" names_line 2 pvrdma-agentctl health
  expect "blocked: and what vmw_pvrdma needs it for" \
    sh -c "pvrdma-agentctl health | tr -s ' \n' ' ' | grep -q 'vmw_pvrdma is kept from being loaded: it needs ib_core'"
  expect "blocked: nobody says that the kernel lacks the driver" no_finding driver-not-shipped
  expect "blocked: doctor" names_line 2 pvrdma-agentctl doctor
  expect_equal "blocked: its exit status" 2 "$(pvrdma-agentctl doctor >/dev/null; echo $?)"
  expect "blocked: the next boot" names_line 2 pvrdma-agentctl doctor --next-boot
  expect_equal "blocked: it is not tried in vain" 0 \
    "$(ledger '[.attempts[] | select(.target == "vmw_pvrdma" and .outcome != "done" and .outcome != "already_done")] | length')"
  rm "$guide"
  wait_until 60 "blocked: without the line it goes on by itself" health_is ready
}

claimed() {
  local function stub=/sys/bus/pci/drivers/pci-stub
  function=$(function_of 0)
  systemctl stop pvrdma-agent.service
  echo 'options pci-stub ids=15ad:0820' >"$guide"
  echo "$function" >/sys/bus/pci/drivers/vmw_pvrdma/unbind
  modprobe pci-stub
  expect "claimed: another driver has the function" test -e "$stub/$function"
  systemctl start pvrdma-agent.service
  wait_until 60 "claimed: a finding names it" finding other-driver
  expect "claimed: health is failed" health_is failed
  expect "claimed: and names the driver" sh -c "pvrdma-agentctl health | grep -q 'is bound to pci-stub'"
  expect "claimed: doctor has the line" names_line 1 pvrdma-agentctl doctor
  expect "claimed: the next boot, too" names_line 1 pvrdma-agentctl doctor --next-boot
  rm "$guide"
  echo "$function" >"$stub/unbind"
  modprobe -r pci-stub
  echo "$function" >/sys/bus/pci/drivers_probe
  wait_until 60 "claimed: given back, it is ready" health_is ready
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  blocked
  claimed
}
