# summary: bench: boot with modules-load.d and systemd-networkd, from the same initramfs without the driver
# install: none
# initrd: own
# boots: 2
# timeout: 600

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
    install_modules_load
    install_initramfs
  else
    report_active initramfs-modules-load
  fi
}
