# summary: bench: boot with the reload of the driver in rc.local and systemd-networkd, from the same initramfs without the driver
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
    install_recipe
    install_initramfs
  else
    wait_recipe
    report_active initramfs-recipe
  fi
}
