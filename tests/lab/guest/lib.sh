# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scenarios, in the guest. Numbers of adapters count from 0; times are in seconds unless named _ms.
# shellcheck shell=bash

# --- the host: answers `host WORD…` on the port lab.ctl, open as descriptor 9 -----------------------------------

# host port N DOWN|ACTIVE|…   host phys N NUMBER   host link N up|down   host device_del N   host reset   host mark TEXT
# host path rdma|net lost   host path rdma|net MICROSECONDS MEGABYTES: delay, and megabytes a second, of the way between guests
# host stun SECONDS: the guest stands still, as while vSphere moves the VM
# host carried rdma|net: prints the bytes that this way between guests has carried
# host forward PORT: prints the port of the host that leads to PORT of 10.0.2.15, the address of the VM's regular NIC
# Prints the text of the host's answer, if there is one; dies if the host could not carry out the request.
host() { [[ $1 != reset ]] || kernel_is_sane || die "the kernel complained"; ask_host 20 "$@"; }
ask_host() { # SECONDS WORD…
  local answer seconds=$1
  shift
  if ! { : >&9; } 2>/dev/null; then command host "$@"; return; fi
  exec 7>/run/lab/ctl.lock
  flock 7
  echo "$*" >&9
  read -r -t "$seconds" answer <&9 || answer="error no answer"
  exec 7>&-
  case $answer in
    ok) ;;
    "ok "*) echo "${answer#ok }" ;;
    *) die "host $*: ${answer#error }" ;;
  esac
}

# shellcheck source=tests/lab/guest/expect.sh
. /run/lab/expect.sh

now_ms() { local t=${EPOCHREALTIME/./}; echo "${t%???}"; }
uptime_ms() { local t; uptime_ms_into t; echo "$t"; }

# --- programs that the guest's image lacks ------------------------------------------------------------------------

# The files of the packages named by `# programs:` begin where the tar on that disk ends (labkit/payload.py).
mount_programs() { mkdir -p /run/programs && mount -o ro,loop,offset=$((64 << 20)) /dev/vdb /run/programs; }
# Adds them below /usr, and those of /etc that are missing. No maintainer script runs: the scenario makes users, folders of /var, links.
use_programs() {
  mount_programs
  mkdir -p /run/programs-changed/{upper,work}
  mount -t overlay -o lowerdir=/run/programs/usr:/usr,upperdir=/run/programs-changed/upper,workdir=/run/programs-changed/work \
    overlay /usr
  cp -an /run/programs/etc/. /etc/
  systemctl daemon-reload
}

# --- other guests, of a scenario with `# guests: 2` and more ----------------------------------------------------

# Runs a command in another guest, with all functions of the scenario; prints its output and returns its status.
on() { # NUMBER COMMAND…
  local answer guest=$1
  shift
  answer=$(ask_host "$LAB_TIMEOUT" on "$guest" "$(base64 -w 0 <<<"${*@Q}")")
  [[ $answer != *" "* ]] || base64 -d <<<"${answer#* }"
  return "${answer%% *}"
}
# The other guests run the commands of the first guest, until that has ended. Before || a failing command would not end a function.
follow() {
  local command status
  while command=$(ask_host "$LAB_TIMEOUT" next) && [[ -n $command ]]; do
    command=$(base64 -d <<<"$command")
    status=0
    echo "--- $command"
    (eval "$command") >said 2>&1 & wait $! || status=$?
    cat said
    host said "$status" "$(base64 -w 0 said)"
  done
}

# --- adapters ---------------------------------------------------------------------------------------------------

function_of() { printf '0000:00:%02x.1\n' $((16 + $1)); }     # the RDMA function
net_function_of() { printf '0000:00:%02x.0\n' $((16 + $1)); } # its vmxnet3
first_of() { [[ -e $1 ]] && echo "${1##*/}"; }
netdev_of() { first_of "/sys/bus/pci/devices/$(net_function_of "$1")/net/"* || echo none; }
rdma_of() { first_of "/sys/bus/pci/devices/$(function_of "$1")/infiniband/"* || echo none; }
port_state() { # N [FIELD]: ACTIVE, DOWN, … or `none` without a device; FIELD phys_state for the other
  local text=none
  { read -r text <"/sys/bus/pci/devices/$(function_of "$1")/infiniband/$(rdma_of "$1")/ports/1/${2:-state}"; } 2>/dev/null || true
  echo "${text#*: }"
}
port_is() { [[ $(port_state "$1") == "$2" ]]; } # N STATE
host_sets_port() { host port "$@" && udevadm trigger --action=change --subsystem-match=infiniband --settle; } # N STATE, with the event of vSphere's device
start_job() { # N: holds a verbs context of adapter N; its PID in $job, what it is told in ./events
  # udev may still change the device's name, which could then not be opened.
  udevadm settle --timeout=20
  rm -f events # of an earlier job
  ibv_asyncwatch -d "$(rdma_of "$1")" >events 2>&1 &
  # shellcheck disable=SC2034  # Scenarios use it.
  job=$!
  wait_until 10 "a job holds adapter $1" grep -q async events
}
# The finding about such a job. Before Linux 5.14 the kernel names only processes with a protection domain, which it lacks.
found_in_use() {
  if [[ $(uname -r) == 5.10.* ]]; then finding holders-unknown; else finding driver-in-use; fi
}
# Endless traffic: rounds of ibv_rc_pingpong, as server and client; each round writes a line to ./rounds. After the first round
# that fails it ends, with the output in ./failed. Both sides poll, and the CPU changes sides only with the kernel's tick, 8 ms
# an exchange. So rounds are short, with pauses, and run at the lowest priority.
pingpong() { # ARGUMENT…: the device and the GID's index
  renice -n 19 "$BASHPID" >/dev/null
  while :; do
    ibv_rc_pingpong "$@" -n 10 >server.out 2>&1 &
    local server=$!
    until ss -ltn | grep -q ':18515 ' || ! kill -0 "$server"; do pause_ms 50; done
    if ! ibv_rc_pingpong "$@" -n 10 127.0.0.1 >client.out 2>&1 || ! wait "$server"; then
      cat server.out client.out >failed
      return 0
    fi
    echo round >>rounds
    pause_ms 1000
  done
}
rounds() { wc -l <rounds; }
more_rounds() { [[ $(rounds) -gt $(($1 + 1)) ]]; } # NUMBER: a whole round was done since there were so many
traffic_goes_on() {
  [[ ! -e failed ]] || { cat failed; die "a round of traffic failed"; }
  wait_until 30 "traffic goes on" more_rounds "$(rounds)"
}
# Runs perftest as server and client in one guest, and prints the result.
# -Q 1 asks for a completion for each message: QEMU's device signals every send, also unsignaled ones, and perftest would count
# each completion as a hundred. On a busy emulated CPU perftest may distrust its clock after the transfer; that is no failure.
bandwidth() { # ARGUMENT…: the device and the GID's index
  timeout 40 ib_send_bw "$@" -Q 1 -n 200 -s 4096 >server.out 2>&1 &
  local server=$!
  wait_until 20 "the server listens" sh -c 'ss -ltn | grep -q ":18515 "'
  timeout 40 ib_send_bw "$@" -Q 1 -n 200 -s 4096 127.0.0.1 >client.out 2>&1 ||
    grep -q 'Correlation coefficient' client.out || { cat server.out client.out; die "ib_send_bw"; }
  wait "$server" || grep -q 'Correlation coefficient' server.out || { cat server.out client.out; die "ib_send_bw's server"; }
  grep -A 1 -e '#bytes' client.out
}
remove_adapter() { # N: both functions leave the bus, as the guest sees a hot-removal
  local rdma net
  rdma=/sys/bus/pci/devices/$(function_of "$1") net=/sys/bus/pci/devices/$(net_function_of "$1")
  { echo 1 >"$rdma/remove" && echo 1 >"$net/remove"; } &
  wait_until 60 "adapter $1 leaves the bus" gone "$rdma" "$net"
}
gone() { # PATH…
  local path
  for path; do [[ ! -e $path ]] || return; done
}
# How late the device answers the commands that its driver waits for, ten seconds each at most (image/pvrdma_late.c). 0: at
# once, as QEMU's does. The driver is loaded, and stays as long as an answer is on its way.
answers_late() { modprobe pvrdma_late && echo "$1" >/sys/module/pvrdma_late/parameters/late_ms; } # MILLISECONDS
# Gives the host the next boot's initrd, with `# initrd: own`; the host reads it from the third disk.
hand_over_initrd() { dd if="$1" of=/dev/vdc bs=1M conv=fsync status=none; } # FILE
load_bare() { modprobe -C /dev/null "$1"; } # MODULE: without modprobe.d, and so without the modules that should precede it
# Functions appear on the bus. If the kernel itself probes an adapter beside another, the driver may take a reference to its
# netdev that is never given back, and the netdev's next removal hangs (pvrdma_netdevice_event_work, Linux 6.1 and 6.12). So
# this binds vmxnet3 to the NIC, and the agent binds vmw_pvrdma.
rescan_pci() {
  local net
  echo 0 >/sys/bus/pci/drivers_autoprobe
  echo 1 >/sys/bus/pci/rescan
  for net in /sys/bus/pci/devices/*.0; do
    [[ $(<"$net/vendor") != 0x15ad || -e $net/driver ]] || echo "${net##*/}" >/sys/bus/pci/drivers/vmxnet3/bind
  done
  echo 1 >/sys/bus/pci/drivers_autoprobe
}
has_ipv4() { ip -o -4 address show dev "$1" | grep -q " $2"; } # NETDEV ADDRESS, or its beginning
has_no_ipv4() { ! has_ipv4 "$@"; }
all_paired() { [[ $(rdma link | grep -c 'netdev ens') == "$LAB_ADAPTERS" ]]; } # each port with its netdev
paired() { rdma link | grep -q "netdev $(netdev_of "$1")"; } # N
# On a removal the driver loses the neighbour's netdev, which the agent mends by a reload. A function that appears during the
# reload is not held back, and its probe may crash the driver, so a scenario waits for the end before it rescans.
survivor_mended() { paired "$1" && at_rest; } # N
driver_bound() { [[ -e /sys/bus/pci/drivers/vmw_pvrdma/$(function_of "$1") ]]; }
module_loaded() { [[ -e /sys/module/$1 ]]; }
loaded_in_order() { # prints the loaded modules of the recipe, oldest first
  grep -oE '^(vmxnet3|mlx4_ib|ib_umad|rdma_cm|rdma_ucm|vmw_pvrdma) ' /proc/modules | tac | tr -d '\n'
}
loaded_last() { loaded_in_order | awk '{ print $NF }'; }
module_live() { [[ $(cat "/sys/module/$1/initstate" 2>/dev/null) == live ]]; }
netdev_up() { [[ $(ip -o link show "$(netdev_of "$1")" 2>/dev/null) =~ [\<,]UP[,\>] ]]; }

# --- packages ---------------------------------------------------------------------------------------------------

# Debian's rpm runs only with --force-debian, and its database does not know the packages that dpkg has installed.
rpm() {
  local options=(--force-debian --dbpath /var/lib/rpm)
  [[ ! " $* " =~ " "-[iUe]" " ]] || options+=(--nodeps)
  command rpm "${options[@]}" "$@"
}

install_packages() { # installs the agent as an administrator does, and starts it
  if [[ -d rpms ]]; then
    rpm -i system/*.rpm
    rpm -i rpms/*.rpm
    # Installing a deb starts its services, installing an rpm does not.
    systemctl start pvrdma-agent.service
  else
    DEBIAN_FRONTEND=noninteractive dpkg -i debs/*.deb
  fi
}

# --- the agent --------------------------------------------------------------------------------------------------

agent_journal() { journalctl -b -u 'pvrdma-agent*' --no-pager -o short-monotonic "$@"; }
journal_has() { agent_journal | grep -E -e "$1" >/dev/null; } # REGEX
unit_active() { systemctl is-active --quiet "$1"; }
# With the exit status of the verdict. Without an answer the program prints an object of an unknown state, in which there are no
# findings, no calls and no reloads; here it prints nothing then.
health() {
  local said status=0
  echo asked >/run/lab/health.asked
  said=$(timeout 10 pvrdma-agentctl --json health) || status=$?
  ((status == 3)) || echo "$said"
  return "$status"
}
health_query() { { health || true; } | gojq -r "$@"; }   # [JQ OPTION…] FILTER
health_state() { health_query .state; }
health_is() { [[ $(health_state) == "$1" ]]; }         # STATE
adapter_state() { health_query --arg f "$(function_of "$1")" '.adapters[] | select(.function == $f) | .state'; } # ADAPTER
adapter_is() { [[ $(adapter_state "$1") == "$2" ]]; }  # ADAPTER STATE
finding() { { health || true; } | gojq -e --arg id "$1" '.findings[] | select(.id == $id)'; } # ID: prints it, or fails
port_transitions() { health_query '[.adapters[].transitions] | add'; }
adapter_count() { [[ $(health_query '.adapters | length') == "$1" ]]; } # NUMBER
at_rest() { # systemctl is slow on an emulated CPU, and is asked only when the processes of the unit have gone
  gone /sys/fs/cgroup/system.slice/pvrdma-agent-executor.service && unit_is pvrdma-agent-executor.service inactive
}
traced() { ! grep -qs '^TracerPid:[[:space:]]*0$' "/proc/$1/status"; } # PID
main_pid() { systemctl show -P MainPID "$1"; } # UNIT
agent_pid() { main_pid pvrdma-agent.service; }
agent_fds() { find "/proc/$(agent_pid)/fd" -mindepth 1 -printf '%l\n' | sed 's/:\[[0-9]*]$//' | sort; } # the kind of each
agent_memory_kib() { awk '/^Pss:/ { print $2 }' "/proc/$(agent_pid)/smaps_rollup"; }
no_more_fds() { ! comm -13 <(echo "$fds_before") <(agent_fds) | grep .; }
leaks_begin() { # with the executor at rest, as at the end
  # A wait for health starts a subscriber that stays connected; it is started now, so that its descriptor is there before.
  health_watched || { health_changes; read -r -t 10 -u 6; }
  pid_before=$(agent_pid) fds_before=$(agent_fds) memory_before=$(agent_memory_kib)
}
leaks_end() {
  expect_equal "the same process" "$pid_before" "$(agent_pid)"
  wait_until 5 "no descriptor is leaked" no_more_fds # A look under way has descriptors of its own, which it closes.
  expect "no memory is leaked: $memory_before KiB before, $(agent_memory_kib) KiB now" \
    [ "$(agent_memory_kib)" -le $((memory_before + 512)) ]
}
held_by() { # ID PID [COMMAND]: the finding names this process
  { health || true; } | gojq -e --arg id "$1" --argjson pid "$2" --arg command "${3:-}" '[.findings[] | select(.id == $id)
    | .evidence.holders[] | select(.pid == $pid and ($command == "" or .command == $command))] | length > 0'
}
remedy_of() { finding "$1" | gojq -er .remedy; }          # ID
remedy_says() { remedy_of "$1" | grep -qF "$2"; }       # ID TEXT
managed_by() { [[ $(health_query ".adapters[$1].managed_by") == "$2" ]]; } # N OWNER
agent_config() { mkdir -p /etc/pvrdma-agent; cat >/etc/pvrdma-agent/pvrdma-agent.toml; } # <TOML
no_finding() { { health || true; } | gojq -e --arg id "$1" '[.findings[] | select(.id == $id)] == []'; } # fails without an answer
unit_is() { [[ $(systemctl is-active "$1") == "$2" ]]; }                          # UNIT STATE
# The units for other programs, which the package's preset disables, are off until the administrator enables them.
integrations_are_off() {
  local unit units
  units=$(sed -n 's/^disable //p' /usr/lib/systemd/system-preset/85-pvrdma-agent.preset)
  [[ -n $units ]] || return
  for unit in $units; do
    [[ $(systemctl is-enabled "$unit") == disabled ]] && unit_is "$unit" inactive || return
  done
}
ledger() { gojq "$@" /run/pvrdma-agent-executor/ledger.json; }                      # [JQ OPTION…] FILTER
reloads_are() { [[ $(ledger .reloads) == "$1" ]]; }                               # NUMBER

# --- guestinfo --------------------------------------------------------------------------------------------------

# QEMU has no channel like that of vSphere. A stand-in for vmware-rpctool of open-vm-tools answers from files, and the unit
# that asks it runs although this is no VMware machine; unit, program and sandbox are the real ones.
guestinfo_standin() {
  install -m 755 /dev/stdin /usr/bin/vmware-rpctool <<'STANDIN'
#!/bin/sh
mkdir -p /run/vmx
: >/run/vmx/asked
cat "/run/vmx/${1#info-get }" 2>/dev/null || { echo "No value found" >&2; exit 1; }
STANDIN
  mkdir -p /etc/systemd/system/pvrdma-agent-guestinfo.service.d
  # An empty condition removes all conditions. With After= the files that `early` writes are there.
  printf '%s\n' '[Unit]' ConditionVirtualization= ConditionFileIsExecutable=/usr/bin/vmware-rpctool After=lab-early.service \
    >/etc/systemd/system/pvrdma-agent-guestinfo.service.d/lab.conf
  systemctl daemon-reload
}
guestinfo() { mkdir -p /run/vmx; cat >"/run/vmx/guestinfo.pvrdma-agent.config${1:-}"; } # [SUFFIX OF THE KEY] <VALUE
# NetworkManager's profile of a link, with these lines of [ipv4].
keyfile() { # INTERFACE LINE…
  printf '%s\n' '[connection]' "id=$1" type=ethernet "interface-name=$1" '' '[ipv4]' "${@:2}" |
    install -m 600 /dev/stdin "/etc/NetworkManager/system-connections/$1.nmconnection"
}
