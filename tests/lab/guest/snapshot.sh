# SPDX-License-Identifier: GPL-2.0-or-later
# summary: boots without adapters, for a snapshot
# adapters: 0
# timeout: 180
# Not a test: labkit/snapshot.py takes the snapshot when it has ended.

not_yet=/run/systemd/system/pvrdma-agent.service.d/snapshot.conf

early() {
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
