# summary: bench: boot with the reload of the driver in rc.local and systemd-networkd
# install: none
# boots: 2
# timeout: 180

scenario() {
  # shellcheck source=tests/bench/boot/poller.sh
  . ./files/poller.sh
  if [[ $BOOT == 1 ]]; then
    install_poller
    install_network
    cat >/etc/rc.local <<'R'
#!/bin/bash
/sbin/modprobe mlx4_ib
/sbin/modprobe ib_umad
/sbin/modprobe rdma_cm
/sbin/modprobe rdma_ucm
/sbin/modprobe -r vmw_pvrdma
/sbin/modprobe vmw_pvrdma
exit 0
R
    chmod 755 /etc/rc.local
  else
    wait_until 90 "rc.local has run" sh -c '[ "$(systemctl show -P ActiveState rc-local.service)" = active ]'
    report_active recipe
  fi
}
