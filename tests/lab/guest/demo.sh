# SPDX-License-Identifier: GPL-2.0-or-later
# summary: shows the agent's work to a new reader
# timeout: 180
# Not a test: tests/lab/demo shows it.

# Notes each change of the port with the uptime. It starts before the driver is loaded, so that it sees all steps of the agent.
watch_port() {
  local now last=''
  while :; do
    now=$(port_state 0)
    [[ $now == "$last" ]] || echo "$(uptime_ms) $now" >>/run/lab/port-changes
    last=$now
    pause_ms 50
  done
}
early() {
  trap - ERR
  # Descriptor 9, the port to the host, is closed, as only one process can have it open.
  watch_port 9>&- &
}

title() { printf '\n\e[1m%s\e[0m\n' "$*"; }
shown() { printf '$ %s\n' "$*"; "$@" || true; }

scenario() {
  title "This is a Debian guest with one PVRDMA adapter; its network and its modules are not configured."
  functions
  title "Its port, since before the driver was loaded:"
  wait_until 120 "the port has been seen ACTIVE" grep -q ' ACTIVE$' /run/lab/port-changes >/dev/null
  local ms state
  while read -r ms state; do
    if [[ $state == none ]]; then state='(no RDMA device yet)'; else state=PORT_$state; fi
    printf '%5d.%03d s of uptime   %s\n' $((ms / 1000)) $((ms % 1000)) "$state"
  done </run/lab/port-changes
  title "The agent's log of that time:"
  shown journalctl -b -u pvrdma-agent.service --no-pager -o short-monotonic
  if command -v pvrdma-agentctl >/dev/null; then
    wait_until 60 "the agent says ready" health_is ready >/dev/null
  fi
  title "The RDMA device, as any application sees it:"
  shown ibv_devinfo
  title "The service:"
  shown systemctl --no-pager --full status pvrdma-agent
  title "The agent's own verdict:"
  shown pvrdma-agentctl health
}

functions() {
  local function
  for function in "$(net_function_of 0)" "$(function_of 0)"; do
    echo "PCI function $function: $(cat "/sys/bus/pci/devices/$function/vendor"):$(cat "/sys/bus/pci/devices/$function/device")"
  done
}
