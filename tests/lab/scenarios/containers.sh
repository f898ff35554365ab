# SPDX-License-Identifier: GPL-2.0-or-later
# summary: a real podman gives unprivileged containers the devices of export cdi: ibv_devinfo and RC traffic as uid 12345, also after a reload; both fail without the device, or with little locked memory
# adapters: 1
# programs: podman crun netavark
# start: snapshot
# timeout: 400

# The containers see the files of the guest, which has rdma-core; their changes are kept apart.
contain() { # OPTION… -- COMMAND…: as uid 12345, without a capability, with the node's network
  local options=()
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  timeout 60 podman --runtime crun --cgroup-manager cgroupfs --log-level error run --rm --cgroups disabled --log-driver none --network host \
    --user 12345 --cap-drop ALL --security-opt no-new-privileges "${options[@]}" --rootfs /run/root:O "$@"
}
# The guide's command runs podman with the options of a guest, of which --network is one, and with its files in place of an image's.
# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh
podman() { # run OPTION… IMAGE COMMAND…
  local words=()
  shift
  while [[ $1 != IMAGE ]]; do
    if [[ $1 == --network ]]; then shift; else words+=("$1"); fi
    shift
  done
  shift
  contain "${words[@]}" -- "$@"
}
export -f podman contain
device=(--device pvrdma.io/adapter=all)
locked=(--ulimit memlock=-1)
listening() { ss -ltn | grep -q ':18515 '; }
messages_pass() { # between two containers
  udevadm settle --timeout=20 # udev may still change the device's name
  local words=(ibv_rc_pingpong -d "$(rdma_of 0)" -g "$(health_query '.adapters[0].application_gid.index')" -n 100)
  contain "${device[@]}" "${locked[@]}" -- "${words[@]}" >server.out 2>&1 &
  local server=$!
  wait_until 40 "a container listens" listening
  contain "${device[@]}" "${locked[@]}" -- "${words[@]}" 127.0.0.1 >client.out 2>&1 || { cat server.out client.out; die "the client's container"; }
  wait "$server" || { cat server.out client.out; die "the server's container"; }
  cat client.out
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  agent_config <<<$'[[adapter]]\nmatch = { netdev = "ens16f0" }\naddresses = ["192.168.30.201/24"]'
  systemctl reload pvrdma-agent.service
  wait_until 60 "the address is there" has_ipv4 ens16f0 192.168.30.201/24
  use_programs
  mkdir -p /run/root
  mount --bind / /run/root
  mount --bind /usr /run/root/usr
  follow_guide containers containers
  wait_until 30 "health says ready" health_is ready

  contain -- sh -c 'id -u; grep CapBnd /proc/self/status' | tee nobody
  expect_equal "the container's process has uid 12345 and no capability" "12345 CapBnd:0000000000000000" "$(tr -d '\t' <nobody | paste -sd ' ')"
  contain -- ibv_devinfo >without 2>&1 || true
  expect_not "without the option there is no device" grep -q PORT_ACTIVE without
  follow_guide containers containers 2 >with
  cat with
  expect "with the option the device is there" grep -q PORT_ACTIVE with
  contain --device "pvrdma.io/adapter=$(function_of 0)" -- ibv_devinfo >one
  expect "the device is also there by the name of its function" grep -q PORT_ACTIVE one
  # A system container has the agent's units, but the devices that it sees belong to the host.
  local unit
  expect "the units start on the host" systemd-analyze condition 'ConditionVirtualization=!container'
  expect_equal "systemd recognises the container" podman "$(contain -- systemd-detect-virt --container)"
  for unit in pvrdma-agent.service pvrdma-agent-executor.service pvrdma-agent-executor.socket pvrdma-agent-wait-online.service; do
    expect "$unit does not start in a container" grep -qx 'ConditionVirtualization=!container' "/usr/lib/systemd/system/$unit"
  done
  contain "${device[@]}" -- ls /dev/infiniband >nodes
  expect_equal "the container has only the nodes that it needs" "rdma_cm uverbs0" "$(paste -sd ' ' nodes)"
  expect "messages pass" messages_pass
  contain "${device[@]}" --ulimit memlock=4096:4096 -- ibv_rc_pingpong -d "$(rdma_of 0)" -g 0 >little 2>&1 || true
  cat little
  expect "with little locked memory it fails" grep -qi "couldn't" little

  expect "a reload" sh -c "pvrdma-agentctl reload | grep '^reloaded'"
  wait_until 30 "health says ready" health_is ready
  wait_until 20 "the address is there" has_ipv4 ens16f0 192.168.30.201/24
  expect "after it, messages pass" messages_pass
  systemctl stop pvrdma-agent-cdi.service
  contain "${device[@]}" -- true >gone 2>&1 && die "podman gives a device that is not offered"
  expect "podman names the device that is not offered" grep -q pvrdma.io/adapter gone
}
