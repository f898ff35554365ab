// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_checklist.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/tools/doctor/host_causes.hpp"
#include "agent/tools/survey/vsphere_menus.hpp"

namespace pvrdma::doctor {

namespace {

using Settings = std::vector<HostSetting>;

std::string seen_mtu(const Snapshot& snapshot) {
  std::vector<std::string> mtus;
  for (const Adapter& adapter : snapshot.adapters.value_or({}))
    if (const Netdev* netdev = adapter.netdev.get())
      mtus.push_back(netdev->name + " here has MTU " + std::to_string(netdev->mtu));
  return joined(mtus);
}

std::string seen_adapters(const Snapshot& snapshot) {
  const auto* adapters = snapshot.adapters.get();
  if (adapters == nullptr) return "";
  const std::size_t count = adapters->size();
  return "the guest sees " +
         (count == 0 ? std::string{"none"} : std::to_string(count) + " of type PVRDMA");
}

std::string seen_protocol(const Snapshot& snapshot) {
  std::vector<std::string> types;
  for (const Adapter& adapter : snapshot.adapters.value_or({}))
    if (const RdmaDevice* rdma = adapter.rdma_device.get())
      for (const Gid& gid : rdma->gids)
        if (const std::string* type = gid.type.get())
          if (const std::string text = rdma->name + " has GIDs of " + *type; !contains(types, text))
            types.push_back(text);
  return joined(types);
}

std::string seen_first(const Snapshot& snapshot) {
  const std::string* first = snapshot.first_nic.get();
  if (first == nullptr) return "";
  const auto adapters = snapshot.adapters.value_or({});
  const bool is_adapter = find_in(adapters, *first, &Adapter::net_function) != nullptr;
  return "the first NIC is " + *first + ", which is " + (is_adapter ? "one" : "none");
}

Settings physical_switch(const Snapshot& snapshot) {
  constexpr const char* kArea = "Physical switch";
  return {{kArea,
           "The ports of all hosts are enabled, with the speed of the NICs, and with "
           "auto-negotiation where the NICs use it.",
           "",
           {about(HostPart::Nics).look},
           ""},
          {kArea,
           "The MTU of the ports and VLANs is at least that of the VMs: 9000 for jumbo "
           "frames.",
           seen_mtu(snapshot),
           {},
           ""},
          {kArea,
           "Flow control is on at the ports as on the NICs: global, or priority flow "
           "control (PFC).",
           "",
           {about(HostPart::FlowControl).look},
           ""},
          {kArea, "The ports belong to no LAG or MLAG: PVRDMA supports no teaming.", "", {}, ""}};
}

Settings distributed_switch(const Snapshot& snapshot) {
  constexpr const char* kArea = "Distributed switch";
  const std::string list = about(HostPart::Switch).look;
  return {{kArea,
           "All VMs that speak RDMA to each other are at the same distributed switch.",
           "",
           {list},
           menus::kAdapterNetwork},
          {kArea,
           "Its version is 6.5.0 or later; guides for new switches ask for 7.0.0.",
           "",
           {},
           menus::kSwitchVersion},
          {kArea,
           "Its MTU is at least that of the VMs: 9000 for jumbo frames.",
           seen_mtu(snapshot),
           {list},
           menus::kSwitchMtu},
          {kArea, "Network I/O Control is disabled.", "", {}, menus::kSwitchControl},
          {kArea,
           "One NIC of each host, which supports RoCE, is its only uplink there. A switch "
           "with four names of uplink ports (Uplink 1 to Uplink 4) is fine if one has a NIC.",
           "",
           {list, about(HostPart::RdmaDevices).look},
           menus::kUplinks}};
}

Settings host() {
  constexpr const char* kArea = "ESXi host";
  const HostPartInfo& vmknic = about(HostPart::Vmknic);
  const HostPartInfo& firewall = about(HostPart::Firewall);
  return {{kArea,
           "The NIC has an RDMA device that is Active and speaks RoCE: without it VMs of "
           "different hosts fall back to TCP.",
           "",
           {about(HostPart::RdmaDevices).look, about(HostPart::Protocols).look},
           menus::kRdmaDevices},
          {kArea,
           "Net.PVRDMAVmknic names a VMkernel adapter.",
           "",
           {vmknic.look, vmknic.change},
           vmknic.menu},
          {kArea,
           "The VMkernel adapters of all hosts reach each other.",
           "",
           {"vmkping -I vmk0 ADDRESS_OF_ANOTHER_HOST"},
           menus::kVmkernelAdapters},
          {kArea,
           "The firewall's rule set pvrdma (TCP 28250-28761) is enabled.",
           "",
           {firewall.look, firewall.change},
           firewall.menu}};
}

Settings virtual_machine(const Snapshot& snapshot, const Survey& survey) {
  constexpr const char* kArea = "VM";
  const std::string product =
      survey.product.is_known() ? "DMI calls the machine " + *survey.product.get() : "";
  return {
      {kArea,
       "Its hardware version is 13 or later (17 for namespaces, 18 for native "
       "endpoints).",
       product,
       {"vim-cmd vmsvc/getallvms    # column Version"},
       menus::kHardware},
      {kArea, "Its adapter is of type PVRDMA.", seen_adapters(snapshot), {}, menus::kAdapterType},
      {kArea,
       "The adapter is connected, and connected at power on.",
       "",
       {},
       menus::kAdapterConnected},
      {kArea,
       "The Device Protocol is RoCE v2, in all VMs alike.",
       seen_protocol(snapshot),
       {},
       menus::kAdapterProtocol},
      {kArea,
       "The first network adapter is a regular one (VMXNET3), no PVRDMA adapter.",
       seen_first(snapshot),
       {},
       "VM > Edit Settings > Network adapter 1"},
      {kArea,
       "Each PVRDMA adapter is in a network (subnet) of its own, which is also not that "
       "of the regular adapter.",
       "",
       {},
       menus::kAdapterNetwork}};
}

}  // namespace

std::vector<HostSetting> host_checklist(const Snapshot& snapshot, const Survey& survey) {
  Settings all;
  for (Settings& area :
       std::vector<Settings>{physical_switch(snapshot), distributed_switch(snapshot), host(),
                             virtual_machine(snapshot, survey)})
    std::move(area.begin(), area.end(), std::back_inserter(all));
  return all;
}

}  // namespace pvrdma::doctor
