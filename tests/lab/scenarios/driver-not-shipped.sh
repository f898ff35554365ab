# summary: a kernel without vmw_pvrdma: a verdict of its own
# adapters: 1

early() {
  find "/lib/modules/$(uname -r)" -name 'vmw_pvrdma.ko*' -delete
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
}
