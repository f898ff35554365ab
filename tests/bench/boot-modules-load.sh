# summary: bench: boot with modules-load.d and systemd-networkd
# install: none
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
    install_modules_load
  else
    report_active modules-load
  fi
}
