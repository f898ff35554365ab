# summary: bench: boot with the agent and systemd-networkd
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
  else
    report_active agent
    wait_until 20 "health says ready" health_is ready
  fi
}
