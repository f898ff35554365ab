# summary: bench: boot with the reload of the driver in rc.local and systemd-networkd
# install: none
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
    install_recipe
  else
    wait_recipe
    report_active recipe
  fi
}
