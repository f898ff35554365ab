# SPDX-License-Identifier: GPL-2.0-or-later
# summary: boots without the adapters, for a snapshot
# timeout: 180
# Not a test: labkit/snapshot.py takes the snapshot when it has ended.

not_yet=/run/systemd/system/pvrdma-agent.service.d/snapshot.conf

early() {
  local vendor
  # The RDMA functions go first, as each needs its NIC to the end.
  for vendor in /sys/bus/pci/devices/*.1/vendor /sys/bus/pci/devices/*.0/vendor; do
    [[ $(<"$vendor") != 0x15ad ]] || echo 1 >"${vendor%/*}/remove"
  done
  mkdir -p "${not_yet%/*}"
  printf '[Unit]\nConditionPathExists=/run/lab/no-snapshot\n' >$not_yet
  systemctl daemon-reload
}

scenario() {
  wait_boot 150
  expect_not "no driver was loaded" module_loaded vmxnet3
  rm -r "${not_yet%/*}"
  systemctl daemon-reload
  sync
  echo 3 >/proc/sys/vm/drop_caches # Unused memory makes the snapshot smaller.
}
