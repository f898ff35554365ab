# summary: mlx4_ib is not shipped: noted, ready all the same
# adapters: 1

early() {
  find "/lib/modules/$(uname -r)" -name 'mlx4_ib.ko*' -delete
  depmod
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  expect "it is noted" finding module-not-shipped
  expect_equal "as information" info "$(finding module-not-shipped | jq -r .severity)"
  expect "exit status 0" pvrdma-agentctl health
}
