# SPDX-License-Identifier: GPL-2.0-or-later
# summary: without vmw_pvrdma in the kernel the verdict says so; without mlx4_ib there is a note, and the state is ready; with a file of vmw_pvrdma that the kernel would refuse there is no reload
# adapters: 1
# start: snapshot
# waits: yes

modules=/lib/modules/$(uname -r)
put_away() { # MODULE
  local file
  file=$(find "$modules" -name "$1.ko*")
  echo "$file" >"$1.was"
  mv "$file" "$1.away"
}

early() {
  # depmod reads each module, so most of those that this guest does not need go first.
  mkdir "$modules.unneeded"
  mv -t "$modules.unneeded" "$modules"/kernel/{sound,drivers/net/wireless}
  find "$modules/kernel/drivers" -mindepth 1 -maxdepth 1 ! -name net ! -name infiniband ! -name virtio -exec mv -t "$modules.unneeded" {} +
  put_away vmw_pvrdma
  put_away mlx4_ib
  depmod
}

scenario() {
  wait_boot
  wait_until 20 "health says failed" health_is failed
  expect "the finding" finding driver-not-shipped
  expect_equal "exit status" 2 "$(pvrdma-agentctl health >/dev/null; echo $?)"
  wait_until 5 "the agent has started, which is all that network-pre.target waits for at a boot" unit_active pvrdma-agent.service
  wait_until 20 "the executor has loaded the other modules" module_loaded rdma_ucm
  expect_equal "the load was not tried again and again" 0 \
    "$(ledger '[.attempts[] | select(.target == "vmw_pvrdma")] | length')"

  # This is like the installation of a package with the driver.
  mv vmw_pvrdma.away "$(cat vmw_pvrdma.was)"
  depmod
  systemctl restart pvrdma-agent.service
  wait_until 60 "the driver is shipped again: health says ready" health_is ready
  expect "the other module is noted" finding module-not-shipped
  expect_equal "the note's severity" info "$(finding module-not-shipped | gojq -r .severity)"
  expect "exit status 0" pvrdma-agentctl health
  replaced
}

# While the driver is loaded, its file is replaced by one that this kernel would refuse.
replaced() {
  local loaded file attempts
  file=$(cat vmw_pvrdma.was)
  wait_until 60 "at rest" at_rest
  loaded=$(stat -c %i /sys/module/vmw_pvrdma)
  # Only one byte changes, so the layout of the file stays the same.
  sed -i 's/ mod_unload / mod_unlocd /' "$file"
  expect "replaced: the file is for a kernel with other settings" sh -c "modinfo -F vermagic $file | grep mod_unlocd"
  expect_not "replaced: no reload on request" pvrdma-agentctl reload
  expect_equal "replaced: the driver stays" "$loaded" "$(stat -c %i /sys/module/vmw_pvrdma)"
  host port 0 DOWN
  wait_until 60 "replaced: the agent's own reload fails" finding action-failed
  expect "replaced: health says why" sh -c "pvrdma-agentctl health | tr -s ' \n' ' ' | grep -q 'could not be inserted again: .*with other settings'"
  wait_until 300 "replaced: the agent gives up" finding giving-up
  expect_equal "replaced: the driver was never unloaded" "$loaded" "$(stat -c %i /sys/module/vmw_pvrdma)"
  attempts=$(ledger '[.attempts[] | select(.verb == "ReloadDriver")] | length')
  expect "replaced: there were three attempts, and perhaps the requested one besides ($attempts)" grep -qx '[34]' <<<"$attempts"
}
