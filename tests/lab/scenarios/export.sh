# SPDX-License-Identifier: GPL-2.0-or-later
# summary: export: devices for containers come and go with the driver, labels for Kubernetes lapse, vSphere's variable is set by stand-ins that also refuse or hang
# adapters: 1
# start: snapshot

# shellcheck source=tests/lab/guest/guide.sh
. /run/lab/guide.sh

cdi=/run/cdi/pvrdma.io-adapter.json
features=/etc/kubernetes/node-feature-discovery/features.d/pvrdma
cdi_has() { gojq -e --arg name "$1" --arg path "$2" '.devices[] | select(.name == $name) | .containerEdits.deviceNodes[] | select(.path == $path)' "$cdi"; } # DEVICE PATH
exposed() { systemctl show -P CapabilityBoundingSet "$1"; }
labels_lapse_soon() { # within five minutes from now
  local lapse
  lapse=$(sed -n 's/^# +expiry-time=//p' "$features")
  [[ $lapse == ????-??-??T??:??:??Z ]] || return
  lapse=$(($(date -d "$lapse" +%s) - $(date +%s)))
  ((lapse > 0 && lapse <= 300))
}

# The unit, its sandbox and pvrdma-agentctl are the real ones. Stand-ins replace the programs of open-vm-tools, as QEMU has no such channel. Each
# value becomes a line of /run/vmx/NAME; a file makes a program refuse or hang.
vsphere_standin() {
  install -d -m 1777 /run/vmx
  local name
  for name in vmware-rpctool vmtoolsd; do
    install -m 755 /dev/stdin "/usr/bin/$name" <<STANDIN
#!/bin/sh
[ ! -e /run/vmx/$name.hangs ] || exec sleep 100
[ ! -e /run/vmx/$name.refuses ] || { echo 'Failed sending message to VMware.'; exit 1; }
[ $name = vmware-rpctool ] || { [ "\$1" = --cmd ] && shift; }
[ \$# = 1 ] && printf '%s\n' "\$1" >>/run/vmx/$name
STANDIN
  done
  mkdir -p /etc/systemd/system/pvrdma-agent-vsphere.service.d
  printf '%s\n' '[Unit]' ConditionVirtualization= '[Service]' ReadWritePaths=/run/vmx >/etc/systemd/system/pvrdma-agent-vsphere.service.d/lab.conf
  systemctl daemon-reload
}
last_value() { tail -n 1 "/run/vmx/$1" | sed -n 's/^info-set guestinfo.pvrdma-agent.health //p'; } # PROGRAM
value_is() { [[ $(last_value "$1" | gojq -r .state) == "$2" ]]; } # PROGRAM STATE
complaints_of_vsphere() { journalctl -q -b -u pvrdma-agent-vsphere.service -o cat | grep -c 'Failed sending' || true; }
vsphere_complains() { (($(complaints_of_vsphere) > 0)); }

scenario() {
  wait_until 60 "health says ready" health_is ready
  local unit
  for unit in cdi nfd vsphere; do expect_equal "$unit: off" disabled "$(systemctl is-enabled "pvrdma-agent-$unit.service" || true)"; done
  expect "nothing is exported" test ! -e "$cdi" -a ! -e "$features"

  systemctl start pvrdma-agent-cdi.service
  follow_guide kubernetes export
  expect "the adapter is a device" cdi_has "$(function_of 0)" /dev/infiniband/uverbs0
  expect "the device all has it too, with the connection manager" cdi_has all /dev/infiniband/rdma_cm
  expect_equal "the file belongs to root, and all may read it" "root 644" "$(stat -c '%U %a' "$cdi")"
  expect_equal "the services have no capability" "" "$(exposed pvrdma-agent-cdi.service)$(exposed pvrdma-agent-nfd.service)"
  expect "the node is labelled" grep -x pvrdma.io/ready=true "$features"
  expect "the labels lapse" labels_lapse_soon
  remove_adapter 0
  wait_until 20 "without an adapter there is no device" test ! -e "$cdi"
  wait_until 20 "the label says that there is no adapter" grep -x pvrdma.io/adapters=0 "$features"
  rescan_pci
  wait_until 60 "the adapter is back: health says ready" health_is ready
  wait_until 20 "the adapter is a device again" cdi_has "$(function_of 0)" /dev/infiniband/uverbs0
  wait_until 20 "the label counts the adapter again" grep -x pvrdma.io/adapters-ready=1 "$features"
  expect "a reload" sh -c "pvrdma-agentctl reload | grep '^reloaded'"
  wait_until 20 "after the reload the device has the new node" cdi_has all "/dev/infiniband/$(basename /sys/class/infiniband_verbs/uverbs*)"
  systemctl stop pvrdma-agent.service
  expect "a stopped agent leaves the device" test -e "$cdi"
  systemctl start pvrdma-agent.service
  systemctl stop pvrdma-agent-cdi.service pvrdma-agent-nfd.service
  expect "the services are stopped: no file is left" test ! -e "$cdi" -a ! -e "$features"
  wait_until 30 "health says ready" health_is ready

  systemctl start pvrdma-agent-vsphere.service
  expect_equal "the service is skipped on other machines than vSphere's" no "$(systemctl show -P ConditionResult pvrdma-agent-vsphere.service)"
  vsphere_standin
  systemctl start pvrdma-agent-vsphere.service
  expect "vSphere's variable is set" value_is vmware-rpctool ready
  expect_equal "the value names this boot" "$(tr -d - </proc/sys/kernel/random/boot_id)" "$(last_value vmware-rpctool | gojq -r .bootId)"
  : >/run/vmx/vmware-rpctool.hangs
  systemctl stop pvrdma-agent.service
  wait_until 30 "one program hangs: the other sets the state unknown of a stopped agent" value_is vmtoolsd unknown
  : >/run/vmx/vmtoolsd.refuses
  systemctl start pvrdma-agent.service
  wait_until 40 "both programs fail: the journal says so" vsphere_complains
  expect "the service goes on" unit_is pvrdma-agent-vsphere.service active
  rm /run/vmx/*.hangs /run/vmx/*.refuses
  rm /run/vmx/vmware-rpctool
  systemctl restart pvrdma-agent.service
  wait_until 90 "the service asks again: the variable is set" value_is vmware-rpctool ready
  expect_equal "one complaint" 1 "$(complaints_of_vsphere)"
}
