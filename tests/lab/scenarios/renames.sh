# SPDX-License-Identifier: GPL-2.0-or-later
# summary: netdev and RDMA device are renamed during bring-up, again and again: the agent still knows the adapter
# adapters: 2
# start: snapshot
# timeout: ${PVRDMA_LAB_TIMEOUT:-300}

early() {
  mkdir -p /etc/systemd/network
  printf '[Match]\nMACAddress=00:50:56:00:00:10\n[Link]\nName=storage0\n' >/etc/systemd/network/10-storage.link
  udevadm control --reload # udevd looks for changed files every 3 s at most, and a snapshot resumes within those (udev-manager.c)
  agent_config <<'TOML'
[[adapter]]
match = { mac = "00:50:56:00:00:10" }
addresses = ["192.168.30.201/24"]
TOML
}

device_is() { [[ $(health_query '.adapters[0].rdma_device') == "$1" ]]; }
netdev_is() { [[ $(health_query '.adapters[0].netdev') == "$1" ]]; }
has_address() { ip -4 -o address show dev "$1" | grep -q ' 192.168.30.201/24 '; }
rename_device() { rdma dev set "$(rdma_of 0)" name "$1" 2>/dev/null || true; } # The device may be gone at that moment.
udev_is_done() { udevadm settle --timeout=0; }
device_named() { rename_device "$1" && [[ $(rdma_of 0) == "$1" ]]; }
# A link that is up cannot be renamed (EBUSY), so this takes it down first; the agent may bring it up again before the rename.
rename_netdev() { # NAME
  local old
  old=$(netdev_of 0)
  [[ $old == "$1" ]] || { ip link set "$old" down && ip link set "$old" name "$1"; }
}
scenario() {
  wait_until 60 "udev's own name for the netdev" netdev_is storage0
  wait_until 60 "health says ready" health_is ready
  wait_until 20 "its address is set" has_address storage0

  local reload round last=${PVRDMA_LAB_ROUNDS:-3}
  for ((round = 1; round <= last; round++)); do
    pvrdma-agentctl reload >reload.out 2>&1 &
    reload=$!
    rename_device "early$round"
    wait_until 20 "$round: the driver is gone, or back" driver_bound 1
    rename_device "late$round"
    wait_until 20 "$round: the netdev has another name" rename_netdev "moved$round"
    wait "$reload" || true
    # udev names new devices, perhaps once more after this rename.
    wait_until 60 "$round: udev has ended its renames" udev_is_done
    wait_until 20 "$round: the device has its last name" device_named "last$round"
    wait_until 60 "$round: health says ready" health_is ready
    wait_until 20 "$round: health has the present name of the netdev" netdev_is "moved$round"
    wait_until 20 "$round: health has the present name of the device" device_is "last$round"
    expect "$round: the link is up" netdev_up 0
    wait_until 20 "$round: the address stays" has_address "moved$round"
  done
  expect "health has the older names: $(health_query -c '.adapters[0].aliases')" \
    sh -c "pvrdma-agentctl health --json | gojq -e '.adapters[0].aliases | length > 1'"
  expect "the other adapter is still ready" adapter_is 1 ready
  expect_equal "its netdev" ens17f0 "$(health_query '.adapters[1].netdev')"
  expect_equal "the ports are paired" 2 "$(rdma link | grep -cE "netdev (moved$last|ens17f0)")"
}
