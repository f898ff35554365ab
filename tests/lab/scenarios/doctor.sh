# SPDX-License-Identifier: GPL-2.0-or-later
# summary: doctor: with and without the agent, in a container, beside what spoils RDMA: who has to do what, with the evidence
# adapters: 2
# start: snapshot
# timeout: 400

as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
# Exit status in $status, output in ./out. As nobody, whose limit of locked memory counts.
doctor() { # ARGUMENT…
  status=0
  as_nobody pvrdma-agentctl doctor "$@" >out 2>&1 || status=$?
}
says() { tr -s '\n ' ' ' <out | grep -qF -- "$1"; } # TEXT, wherever it is wrapped
answer() { gojq -r "$1" out; }                        # FILTER
found() { gojq -e --arg id "$1" '.findings[] | select(.id == $id)' out; }
finds() { # STATUS ID ACTOR: a finding, perhaps for each adapter, and whose move it is
  doctor --json
  expect_equal "$2: exit status, whose move" "$1 $3" "$status $(found "$2" | gojq -rs 'map(.actor) | unique | join(" ")')"
}
verdict_of() { answer ".checks[] | select(.area == \"$1\") | .verdict"; } # AREA
unlimited() { prlimit --memlock=unlimited:unlimited --pid $$; }

# What logins get, of which no file of pam_limits says anything: the same here and for the next boot.
logins() {
  unlimited
  doctor --json
  expect_equal "logins get systemd's default, which is little" "info 8 MiB" \
    "$(verdict_of memlock) $(found memlock-low | gojq -r .evidence.values.limit)"
  expect_equal "at the next boot as well" "$(answer '.checks[] | select(.area == "memlock") | .evidence[] | select(test("^logins"))')" \
    "$(as_nobody pvrdma-agentctl --json doctor --next-boot | gojq -r '.machine[] | select(.check == "memlock") | .says')"
  found memlock-low | gojq -r '.commands[]' >commands
  sh commands
  doctor --json
  expect_equal "which its line mends" good "$(verdict_of memlock)"
}

healthy() {
  doctor
  cat out
  expect_equal "usable" 0 "$status"
  expect "in a word" says "USABLE nothing is to be done"
  doctor --json
  expect_equal "by the agent, for nobody to act, state" "true null ready" \
    "$(answer '"\(.asked_agent) \(.next_move) \(.state)"')"
  expect_equal "all is known and good, but for addresses, this distribution and a clock that nobody sets" \
    "GIDs info, guest info, clock info" \
    "$(answer '[.checks[] | select(.verdict != "good") | "\(.area) \(.verdict)"] | join(", ")')"
  expect "with the raw state" sh -c "gojq -e '.checks[] | select(.area == \"ports\") | .evidence[0] | test(\"port ACTIVE, LINK_UP\")' out"
  expect "and the provider" sh -c "gojq -r '.checks[] | select(.area == \"libraries\") | .evidence[]' out | grep -q 'provider: .*rdmav'"
  expect "the driver, which the lab built, has no signature" sh -c "gojq -r '.checks[] | select(.area == \"blocks\") | .evidence[]' out | grep -q 'vmw_pvrdma is not signed'"
  local began
  began=$(now_ms)
  doctor --json
  echo "doctor took $(($(now_ms) - began)) ms on this emulated machine"
}

limits() {
  prlimit --memlock=8388608:8388608 --pid $$
  finds 1 memlock-low guest
  expect "for this shell, with the line to write" sh -c "gojq -e '.findings[] | select(.id == \"memlock-low\") | .commands[] | test(\"limits.d\")' out"
  unlimited
  printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\nLimitMEMLOCK=8M\n' >/run/systemd/system/slurmd.service
  systemctl start slurmd
  doctor --json --unit slurmd
  expect_equal "a unit's limit: exit status, unit" "1 slurmd.service" "$status $(found memlock-low | gojq -r .evidence.values.unit)"
  found memlock-low | gojq -r '.commands[]' >commands
  sh commands # as an administrator does who copies them
  doctor --json --unit slurmd
  expect_equal "which its lines mend" "0 slurmd.service: unlimited" \
    "$status $(answer '.checks[] | select(.area == "memlock") | .evidence[]' | grep slurmd)"
  doctor --json --unit nosuch
  expect_equal "no such unit" "1 nosuch.service" "$status $(found no-such-unit | gojq -r .evidence.values.unit)"
}

spoilt() {
  echo 'blacklist vmw_pvrdma' >/etc/modprobe.d/lab.conf
  finds 2 module-blocked guest
  expect "by which line" says 'blacklist vmw_pvrdma'
  rm /etc/modprobe.d/lab.conf
  chmod 600 /dev/infiniband/uverbs*
  finds 1 nodes-closed guest
  chmod 666 /dev/infiniband/uverbs*
  local provider
  provider=$(echo /usr/lib/x86_64-linux-gnu/libibverbs/libvmw_pvrdma-rdmav*.so)
  mv "$provider" /root/kept.so
  finds 2 provider-missing image
  mv /root/kept.so "${provider%-rdmav*}-rdmav7.so"
  finds 2 provider-mismatch image
  mv "${provider%-rdmav*}-rdmav7.so" "$provider"
  mkdir -p /opt/mellanox/lib
  echo /opt/mellanox/lib >/etc/ld.so.conf.d/mlnx.conf
  finds 1 vendor-libraries image
  expect "with the lines of a Dockerfile" sh -c "gojq -r '.findings[].commands[]' out | grep -q 'apt-get purge -y ibverbs-providers'"
  rm -r /etc/ld.so.conf.d/mlnx.conf /opt/mellanox
  hwclock --systohc --utc
  date -s "+1 hour" >/dev/null
  finds 1 clock-off guest
  date -s "-1 hour" >/dev/null
}

# The host has a port down: a neighbour's being up speaks against what is set for the whole host.
host_side() {
  host port 0 DOWN
  wait_until 120 "the agent has tried what it can" adapter_is 0 failed
  finds 2 port-down host
  doctor --host-admin
  cat out
  expect_equal "the ticket's exit status" 2 "$status"
  expect "names adapter 0" says "00:50:56:00:00:10"
  expect "first what concerns this port alone" says "1. The distributed switch has no uplink"
  expect "with the evidence" says "is ACTIVE on this host"
  expect "and with commands, whole" grep -q "esxcli network firewall ruleset set -e true -r pvrdma$" out
  host port 0 ACTIVE
  wait_until 60 "health says ready" health_is ready
}

without_agent() {
  systemctl stop pvrdma-agent.service
  finds 1 agent-not-running guest
  expect_equal "the state is seen all the same" "false ready" "$(answer '"\(.asked_agent) \(.state)"')"
  expect_equal "ports, also as verbs have them" "good good" "$(verdict_of ports) $(verdict_of libraries)"
  # What only a call shows: the provider is there, and of no use.
  local provider
  provider=$(echo /usr/lib/x86_64-linux-gnu/libibverbs/libvmw_pvrdma-rdmav*.so)
  cp "$provider" kept.so
  : >"$provider"
  finds 1 verbs-unusable image
  cp kept.so "$provider"
}

# What an engine without any option for RDMA gives: a network, a /dev and a /run of its own, no root; the image's files
# are the guest's. Runs in the container: WHAT IS TO BE DONE BEFORE, as root.
in_container() {
  status=0
  unshare --mount --net --pid --fork sh -euc '
    mount -t tmpfs none /run && mkdir /run/systemd && echo docker >/run/systemd/container
    mount -t tmpfs none /mnt && mknod /mnt/null c 1 3 && chmod 666 /mnt/null
    mkdir /mnt/kept && mount --bind /dev /mnt/kept && mount --rbind /mnt /dev && mount -t sysfs none /sys
    eval "$1"
    exec setpriv --reuid nobody --regid nogroup --clear-groups pvrdma-agentctl doctor --json' sh "$1" >out 2>err </dev/null || status=$?
  cat err
}
in_containers() {
  in_container "ulimit -l 64"
  expect_equal "bare container: exit status, by what it is run" "2 docker" "$status $(answer .container)"
  expect_equal "what it lacks" "container-network memlock-low nodes-missing" \
    "$(answer '[.findings[] | select(.severity != "info") | .id] | unique | join(" ")')"
  expect "the nodes to give it, and no more" sh -c "gojq -r '.findings[] | select(.id == \"nodes-missing\") | .commands[]' out |
    grep -qx 'docker run --device /dev/infiniband/uverbs0 --device /dev/infiniband/uverbs1 --device /dev/infiniband/rdma_cm --ulimit memlock=-1 --network host IMAGE'"
  gojq -r '.findings[] | .summary, .commands[]' out
  in_container "mkdir /dev/infiniband; for node in uverbs0 uverbs1 rdma_cm; do cp -a /dev/kept/infiniband/\$node /dev/infiniband; done; ulimit -l unlimited"
  expect_equal "with devices and limit: its network" container-network \
    "$(answer '[.findings[] | select(.severity != "info") | .id] | unique | join(" ")')"
  # An image with a vendor's libraries, as NGC's are.
  in_container "mount -t tmpfs none /var/lib/dpkg; printf 'Package: libibverbs1\nStatus: install ok installed\nVersion: 51mlnx1-1.51258\n' >/var/lib/dpkg/status
    mount -t tmpfs none /usr/lib/x86_64-linux-gnu/libibverbs; ulimit -l unlimited"
  expect "a vendor's libraries: for who makes the image" sh -c "gojq -e '[.findings[] | select(.actor == \"image\") | .id] | sort == [\"provider-missing\", \"vendor-libraries\"]' out"
  expect "by their package" sh -c "gojq -r '.findings[].summary' out | grep -q 'package libibverbs1 51mlnx1-1.51258'"
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 10 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  logins
  healthy
  limits
  spoilt
  host_side
  without_agent
  in_containers
}
