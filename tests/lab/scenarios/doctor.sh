# SPDX-License-Identifier: GPL-2.0-or-later
# summary: doctor: with and without the agent, in a container, and with faults that keep RDMA from working: it says who has to do what, with the evidence
# adapters: 2
# start: snapshot
# timeout: 400

as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
# Exit status in $status, output in ./out. Runs as the user nobody, whose limit of locked memory counts.
doctor() { # ARGUMENT…
  status=0
  as_nobody pvrdma-agentctl doctor "$@" >out 2>&1 || status=$?
}
says() { tr -s '\n ' ' ' <out | grep -qF -- "$1"; } # TEXT, also across lines
answer() { gojq -r "$1" out; }                        # FILTER
found() { gojq -e --arg id "$1" '.findings[] | select(.id == $id)' out; }
finds() { # STATUS ID ACTOR: a finding, once or for each adapter, and who has to act
  doctor --json
  expect_equal "$2: exit status, whose move" "$1 $3" "$status $(found "$2" | gojq -rs 'map(.actor) | unique | join(" ")')"
}
verdict_of() { answer ".checks[] | select(.area == \"$1\") | .verdict"; } # AREA
unlimited() { prlimit --memlock=unlimited:unlimited --pid $$; }

# The limit of logins, for which pam_limits has no file, is the same here and for the next boot. Debian's pam_limits up to 1.5 makes it
# that of PID 1, whatever its caller has.
logins() {
  local real
  unlimited
  real=$(su -s /bin/sh -c 'ulimit -l' nobody) # KiB
  doctor --json
  expect_equal "the limit of logins, which is little, is that of a real one" "info $((real / 1024)) MiB" \
    "$(verdict_of memlock) $(found memlock-low | gojq -r .evidence.values.limit)"
  expect_equal "the next boot has the same limit for logins" "$(answer '.checks[] | select(.area == "memlock") | .evidence[] | select(test("^logins"))')" \
    "$(as_nobody pvrdma-agentctl --json doctor --next-boot | gojq -r '.machine[] | select(.check == "memlock") | .says')"
  found memlock-low | gojq -r '.commands[]' >commands
  sh commands
  doctor --json
  expect_equal "the line that doctor prints mends it" good "$(verdict_of memlock)"
}

healthy() {
  doctor
  cat out
  expect_equal "usable" 0 "$status"
  expect "the verdict is usable" says "USABLE nothing is to be done"
  doctor --json
  expect_equal "asked the agent, no next move, state" "true null ready" \
    "$(answer '"\(.asked_agent) \(.next_move) \(.state)"')"
  expect_equal "all checks are good, except addresses, this distribution and the clock, which no program sets" \
    "GIDs info, guest info, clock info" \
    "$(answer '[.checks[] | select(.verdict != "good") | "\(.area) \(.verdict)"] | join(", ")')"
  expect "the check of ports shows the port's state" sh -c "gojq -e '.checks[] | select(.area == \"ports\") | .evidence[0] | test(\"port ACTIVE, LINK_UP\")' out"
  expect "the check of libraries shows the provider" sh -c "gojq -r '.checks[] | select(.area == \"libraries\") | .evidence[]' out | grep -q 'provider: .*rdmav'"
  expect "the lab's driver is shown as not signed" sh -c "gojq -r '.checks[] | select(.area == \"blocks\") | .evidence[]' out | grep -q 'vmw_pvrdma is not signed'"
  local began
  began=$(now_ms)
  doctor --json
  echo "doctor took $(($(now_ms) - began)) ms on this emulated machine"
}

# The lab's driver is not signed. The variable has four bytes of attributes before its value.
secure_boot() {
  mount -t tmpfs none /sys/firmware
  mkdir -p /sys/firmware/efi/efivars
  printf '\6\0\0\0\1' >/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
  doctor --next-boot
  umount /sys/firmware
  cat out
  expect_equal "Secure Boot will refuse the driver: exit status" 2 "$status"
  expect "the forecast says so" says "vmw_pvrdma is not signed, and Secure Boot is on"
  doctor --next-boot
  expect_not "without Secure Boot it does not" says "is not signed"
}

limits() {
  prlimit --memlock=8388608:8388608 --pid $$
  finds 1 memlock-low guest
  expect "the finding for this shell has the line to write" sh -c "gojq -e '.findings[] | select(.id == \"memlock-low\") | .commands[] | test(\"limits.d\")' out"
  unlimited
  printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\nLimitMEMLOCK=8M\n' >/run/systemd/system/slurmd.service
  systemctl start slurmd
  doctor --json --unit slurmd
  expect_equal "a unit's limit: exit status, unit" "1 slurmd.service" "$status $(found memlock-low | gojq -r .evidence.values.unit)"
  found memlock-low | gojq -r '.commands[]' >commands
  sh commands # An administrator would copy these commands.
  doctor --json --unit slurmd
  expect_equal "the lines that doctor prints mend it" "0 slurmd.service: unlimited" \
    "$status $(answer '.checks[] | select(.area == "memlock") | .evidence[]' | grep slurmd)"
  doctor --json --unit nosuch
  expect_equal "a unit that does not exist" "1 nosuch.service" "$status $(found no-such-unit | gojq -r .evidence.values.unit)"
}

spoilt() {
  echo 'blacklist vmw_pvrdma' >/etc/modprobe.d/lab.conf
  finds 1 module-blocked guest # the driver is loaded already
  expect "doctor names the line" says 'blacklist vmw_pvrdma'
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
  expect "the finding has the lines for a Dockerfile" sh -c "gojq -r '.findings[].commands[]' out | grep -q 'apt-get purge -y libibverbs1'"
  rm -r /etc/ld.so.conf.d/mlnx.conf /opt/mellanox
  hwclock --systohc --utc
  date -s "+1 hour" >/dev/null
  finds 1 clock-off guest
  date -s "-1 hour" >/dev/null
}

# The host holds a port down. A neighbour's port that is up makes a cause for the whole host unlikely.
host_side() {
  host port 0 DOWN
  wait_until 120 "the agent has tried all its steps" adapter_is 0 failed
  finds 2 port-down host
  doctor --host-admin
  cat out
  expect_equal "the ticket's exit status" 2 "$status"
  expect "the ticket names adapter 0" says "00:50:56:00:00:10"
  expect "the first cause concerns this port alone" says "1. The distributed switch has no uplink"
  expect "the ticket has the evidence" says "is ACTIVE on this host"
  expect "the ticket has the whole checklist" says "Network I/O Control is disabled"
  expect "the ticket has whole commands" grep -q "esxcli network firewall ruleset set -e true -r pvrdma$" out
  host port 0 ACTIVE
  wait_until 60 "health says ready" health_is ready
}

without_agent() {
  systemctl stop pvrdma-agent.service
  finds 1 agent-not-running guest
  expect_equal "without the agent doctor sees the state itself" "false ready" "$(answer '"\(.asked_agent) \(.state)"')"
  expect_equal "the checks of ports and of libraries" "good good" "$(verdict_of ports) $(verdict_of libraries)"
  # Only a call shows that the provider does not work.
  local provider
  provider=$(echo /usr/lib/x86_64-linux-gnu/libibverbs/libvmw_pvrdma-rdmav*.so)
  cp "$provider" kept.so
  : >"$provider"
  finds 1 verbs-unusable image
  cp kept.so "$provider"
}

# Without an option for RDMA an engine gives the container its own network, /dev and /run, and no root; the image's files
# are the guest's. Runs doctor in the container, after these COMMANDS as root.
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
  expect_equal "container without options: exit status, engine" "2 docker" "$status $(answer .container)"
  expect_equal "the findings name the parts that are missing" "container-network memlock-low nodes-missing" \
    "$(answer '[.findings[] | select(.severity != "info") | .id] | unique | join(" ")')"
  expect "the finding names exactly the nodes to give" sh -c "gojq -r '.findings[] | select(.id == \"nodes-missing\") | .commands[]' out |
    grep -qx 'docker run --device /dev/infiniband/uverbs0 --device /dev/infiniband/uverbs1 --device /dev/infiniband/rdma_cm --ulimit memlock=-1 --network host IMAGE'"
  gojq -r '.findings[] | .summary, .commands[]' out
  in_container "mkdir /dev/infiniband; for node in uverbs0 uverbs1 rdma_cm; do cp -a /dev/kept/infiniband/\$node /dev/infiniband; done; ulimit -l unlimited"
  expect_equal "with devices and limit only the network is missing" container-network \
    "$(answer '[.findings[] | select(.severity != "info") | .id] | unique | join(" ")')"
  # An image with a vendor's libraries, like those of NGC.
  in_container "mount -t tmpfs none /var/lib/dpkg; printf 'Package: %s\nStatus: install ok installed\nVersion: 51mlnx1-1.51258\n\n' libibverbs1 librdmacm1 >/var/lib/dpkg/status
    mount -t tmpfs none /usr/lib/x86_64-linux-gnu/libibverbs; ulimit -l unlimited"
  expect "a vendor's libraries: findings for the maker of the image" sh -c "gojq -e '[.findings[] | select(.actor == \"image\") | .id] | sort == [\"provider-missing\", \"vendor-libraries\"]' out"
  expect "the lines name these packages, and the distribution's release" sh -c "gojq -r '.findings[].commands[]' out | paste -s |
    grep 'purge -y libibverbs1 librdmacm1 .* install -y -t $(. /etc/os-release; echo "$VERSION_CODENAME") '"
  expect "a finding names the package" sh -c "gojq -r '.findings[].summary' out | grep -q 'package libibverbs1 51mlnx1-1.51258'"
}

scenario() {
  wait_until 60 "health says ready" health_is ready
  wait_until 10 "IPv6 has settled" sh -c '! ip -6 addr show tentative | grep -q .'
  logins
  healthy
  secure_boot
  limits
  spoilt
  host_side
  without_agent
  in_containers
}
