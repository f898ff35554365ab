# SPDX-License-Identifier: GPL-2.0-or-later
# summary: health, doctor and the forecast of the next boot name the file and line that blocks the driver: a hardening guide's line about a module that vmw_pvrdma needs, also in a file that only root may read, and a driver that takes the function by its ID
# adapters: 1
# start: snapshot

guide=/etc/modprobe.d/60-hardening.conf

names_line() { # LINE COMMAND…: the command's output names that line of the guide
  local line=$1
  shift
  { "$@" || true; } | tr -s ' \n' ' ' | grep -qF "$guide:$line"
}
take_out() { # MODULE…: unloads those that are loaded
  local module
  for module; do
    [[ ! -e /sys/module/$module ]] || modprobe -r "$module" || true
  done
}

blocked() {
  systemctl stop pvrdma-agent.service
  take_out vmw_pvrdma rdma_ucm rdma_cm iw_cm ib_cm ib_umad mlx4_ib ib_uverbs ib_core
  expect_not "blocked: no RDMA module is loaded" module_loaded ib_core
  printf '# RDMA is not used here\ninstall ib_core /bin/true\n' >"$guide"
  systemctl start pvrdma-agent.service
  wait_until 60 "blocked: a finding names it" finding module-blocked
  expect "blocked: health is failed" health_is failed
  expect "blocked: health names the line" names_line 2 pvrdma-agentctl health
  expect "blocked: health says that vmw_pvrdma needs the module" \
    sh -c "pvrdma-agentctl health | tr -s ' \n' ' ' | grep -q 'vmw_pvrdma is kept from being loaded: it needs ib_core'"
  expect "blocked: no finding says that the kernel lacks the driver" no_finding driver-not-shipped
  expect "blocked: doctor" names_line 2 pvrdma-agentctl doctor
  expect_equal "blocked: doctor's exit status" 2 "$(pvrdma-agentctl doctor >/dev/null; echo $?)"
  expect "blocked: doctor --next-boot names the line" names_line 2 pvrdma-agentctl doctor --next-boot
  expect_equal "blocked: the agent does not try to load it" 0 \
    "$(ledger '[.attempts[] | select(.target == "vmw_pvrdma" and .outcome != "done" and .outcome != "already_done")] | length')"
  rm "$guide"
  wait_until 60 "blocked: the line is removed: the agent goes on by itself" health_is ready
}

hidden() {
  systemctl stop pvrdma-agent.service
  take_out vmw_pvrdma rdma_ucm rdma_cm iw_cm ib_cm ib_umad mlx4_ib ib_uverbs ib_core
  printf 'install ib_core /bin/true\n' >"$guide"
  chmod 600 "$guide"
  systemctl start pvrdma-agent.service
  wait_until 60 "hidden: once the load has failed, a finding names the file" finding module-blocked
  expect "hidden: the journal names it" journal_has "opening $guide: Permission denied"
  expect "hidden: doctor, which root runs, names the line" names_line 1 pvrdma-agentctl doctor
  chmod 644 "$guide"
  wait_until 60 "hidden: readable, the file is named with its line" names_line 1 pvrdma-agentctl health
  rm "$guide"
  wait_until 60 "hidden: the line is removed: ready" health_is ready
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
  wait_until 60 "claimed: there is a finding" finding other-driver
  expect "claimed: health is failed" health_is failed
  expect "claimed: health names the driver" sh -c "pvrdma-agentctl health | grep -q 'is bound to pci-stub'"
  expect "claimed: doctor names the line" names_line 1 pvrdma-agentctl doctor
  expect "claimed: doctor --next-boot names the line" names_line 1 pvrdma-agentctl doctor --next-boot
  rm "$guide"
  expect "claimed: the commands of the finding work" bash -ec "$(remedy_of other-driver | grep -o 'echo [^;)]*')"
  wait_until 60 "claimed: the function is given back: ready" health_is ready
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  blocked
  hidden
  claimed
}
