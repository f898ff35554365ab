# summary: bench: boot with the agent and systemd-networkd, the driver in the initramfs
# initrd: own
# boots: 2
# timeout: 600

scenario() {
  # shellcheck source=tests/bench/boot/common.sh
  . ./files/common.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
    install_initramfs
  else
    report_active initramfs-agent
    wait_until 20 "health says ready" health_is ready
  fi
}
