# SPDX-License-Identifier: GPL-2.0-or-later
# summary: modprobe.d alone, no agent: udev loads the driver last, and modprobe -r takes the driver only, as it would not with a plain softdep
# adapters: 1
# loaders: yes
# nics: 1
# kernel: systemd.mask=pvrdma-agent.service

before='vmxnet3 mlx4_ib ib_umad rdma_cm rdma_ucm'
loaded() { sorted "$(loaded_in_order)"; }
sorted() { tr ' ' '\n' <<<"$1" | sort | xargs; }
nics() { find /sys/class/net -name 'ens*' -printf '%f\n' | sort | xargs; }

scenario() {
  wait_until 90 "udev has loaded the driver" module_live vmw_pvrdma
  udevadm settle --timeout=60
  # Or it would fail where we unload what it is about to need.
  wait_until 60 "rdma-core has loaded what it loads" unit_is rdma-load-modules@rdma.service active
  expect_equal "all are loaded" "$(sorted "$before vmw_pvrdma")" "$(loaded)"
  expect_equal "the youngest" vmw_pvrdma "$(loaded_last)"
  expect_equal "NICs" "ens15 ens16f0 ens17f0" "$(nics)"
  modprobe -r vmw_pvrdma
  expect_equal "modprobe -r takes the driver only" "$(sorted "$before")" "$(loaded)"
  expect_equal "and no NIC" "ens15 ens16f0 ens17f0" "$(nics)"
  modprobe -r rdma_ucm
  modprobe vmw_pvrdma
  expect_equal "modprobe loads what is missing" "$(sorted "$before vmw_pvrdma")" "$(loaded)"
  expect_equal "and the driver last" vmw_pvrdma "$(loaded_last)"

  # The contrast: a soft dependency without a name between, as the file would be without our detour.
  # What rdma-core has loaded for others holds rdma_cm, at which modprobe -r would stop.
  modprobe -r rpcrdma ib_iser
  echo "softdep vmw_pvrdma pre: $before" >/etc/modprobe.d/pvrdma-agent.conf
  modprobe -r vmw_pvrdma
  expect_equal "modprobe -r takes plain soft dependencies as well" "" "$(loaded)"
  expect_equal "and with vmxnet3 its NICs" ens15 "$(nics)"
}
