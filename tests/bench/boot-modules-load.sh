# summary: bench: boot with modules-load.d and systemd-networkd
# install: none
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/poller.sh
  . ./files/poller.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
    # With vmxnet3, at its best: without, the driver may be loaded before the netdev is there, and its port stays out.
    printf '%s\n' vmxnet3 mlx4_ib ib_umad rdma_cm rdma_ucm vmw_pvrdma >/etc/modules-load.d/rdma.conf
  else
    report_active modules-load
  fi
}
