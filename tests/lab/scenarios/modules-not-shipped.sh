# summary: kernels without vmw_pvrdma, and without mlx4_ib: the one is a verdict of its own, the other noted, ready all the same
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
}
