# SPDX-License-Identifier: GPL-2.0-or-later
# summary: modprobe.d alone, no agent: udev loads the driver last, and modprobe -r removes only the driver, unlike with a plain softdep
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
  # Otherwise it would fail when a module that it needs is unloaded.
  wait_until 60 "rdma-core has loaded its modules" unit_is rdma-load-modules@rdma.service active
  expect_equal "all modules are loaded" "$(sorted "$before vmw_pvrdma")" "$(loaded)"
  expect_equal "the module that was loaded last" vmw_pvrdma "$(loaded_last)"
  expect_equal "NICs" "ens15 ens16f0 ens17f0" "$(nics)"
  modprobe -r vmw_pvrdma
  expect_equal "modprobe -r removes only the driver" "$(sorted "$before")" "$(loaded)"
  expect_equal "all NICs are still there" "ens15 ens16f0 ens17f0" "$(nics)"
  modprobe -r rdma_ucm
  modprobe vmw_pvrdma
  expect_equal "modprobe loads the missing modules" "$(sorted "$before vmw_pvrdma")" "$(loaded)"
  expect_equal "the driver is loaded last" vmw_pvrdma "$(loaded_last)"

  # For comparison: a plain soft dependency, without the name that stands between driver and list.
  # Other modules that rdma-core has loaded use rdma_cm, so modprobe -r would stop there.
  modprobe -r rpcrdma ib_iser
  echo "softdep vmw_pvrdma pre: $before" >/etc/modprobe.d/pvrdma-agent.conf
  modprobe -r vmw_pvrdma
  expect_equal "modprobe -r removes plain soft dependencies as well" "" "$(loaded)"
  expect_equal "with vmxnet3 its NICs are gone" ens15 "$(nics)"
}
