# SPDX-License-Identifier: GPL-2.0-or-later
# summary: kernels without vmw_pvrdma, and without mlx4_ib: the one is a verdict of its own, the other noted, ready all the same; a file of vmw_pvrdma that the kernel would refuse: no reload
# adapters: 1
# start: snapshot

modules=/lib/modules/$(uname -r)
put_away() { # MODULE
  local file
  file=$(find "$modules" -name "$1.ko*")
  echo "$file" >"$1.was"
  mv "$file" "$1.away"
}

early() {
  put_away vmw_pvrdma
  put_away mlx4_ib
  depmod
}

scenario() {
  wait_boot
  wait_until 20 "health says failed" health_is failed
  expect "the finding" finding driver-not-shipped
  expect_equal "exit status" 2 "$(pvrdma-agentctl health >/dev/null; echo $?)"
  expect "the boot was not held up" unit_active network-pre.target
  expect_equal "it was not tried over and over" 0 \
    "$(ledger '[.attempts[] | select(.target == "vmw_pvrdma")] | length')"

  # As where a package with the driver is installed.
  mv vmw_pvrdma.away "$(cat vmw_pvrdma.was)"
  depmod
  systemctl restart pvrdma-agent.service
  wait_until 60 "with the driver: health says ready" health_is ready
  expect "the other module is noted" finding module-not-shipped
  expect_equal "as information" info "$(finding module-not-shipped | gojq -r .severity)"
  expect "exit status 0" pvrdma-agentctl health
  replaced
}

# The file is replaced by one that this kernel would refuse, while the driver is in the kernel.
replaced() {
  local loaded file
  file=$(cat vmw_pvrdma.was)
  wait_until 60 "at rest" at_rest
  loaded=$(stat -c %i /sys/module/vmw_pvrdma)
  # One byte: nothing in the file moves.
  sed -i 's/ mod_unload / mod_unlocd /' "$file"
  expect "replaced: built for another kernel" sh -c "modinfo -F vermagic $file | grep mod_unlocd"
  expect_not "replaced: no reload on request" pvrdma-agentctl reload
  expect_equal "replaced: the driver stays" "$loaded" "$(stat -c %i /sys/module/vmw_pvrdma)"
  host port 0 DOWN
  wait_until 60 "replaced: nor by itself" finding action-failed
  expect "replaced: which says why" sh -c "pvrdma-agentctl health | tr -s ' \n' ' ' | grep -q 'could not be inserted again: .*with other settings'"
  wait_until 300 "replaced: it is given up" finding giving-up
  expect_equal "replaced: the driver stays for good" "$loaded" "$(stat -c %i /sys/module/vmw_pvrdma)"
  expect "replaced: after three tries, and that on request" \
    [ "$(ledger '[.attempts[] | select(.verb == "ReloadDriver")] | length')" -le 4 ]
}
