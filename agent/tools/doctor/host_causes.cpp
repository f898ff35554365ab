// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_causes.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace pvrdma::doctor {

namespace {

using Causes = std::vector<HostCause>;

HostCause type_of_adapter(const Survey& survey) {
  const auto nics = survey.vmxnet3.value_or({});
  std::string because = "the guest sees no vmxnet3 NIC at all, so no PVRDMA adapter was added";
  if (nics.size() == 1)
    because = "the guest sees one vmxnet3 NIC (" + nics.front() +
              "), so a second adapter was not added, or is of another type";
  else if (nics.size() > 1)
    because = "the guest sees vmxnet3 NICs (" + joined(nics) +
              "), and none has an RDMA function beside it, as an adapter of type PVRDMA has";
  return {"The VM has no network adapter of type PVRDMA.", because, {}, menus::kAdapterType};
}

Causes of_missing_function(const Survey& survey) {
  return {type_of_adapter(survey),
          {"The adapter is not connected at power on.",
           "such an adapter does not show in the guest",
           {},
           menus::kAdapterConnected},
          {"The VM's hardware version is below 13.",
           "the guest cannot see it; DMI calls the machine " + survey.product.value_or("(unknown)"),
           {"vim-cmd vmsvc/getallvms    # column Version: vmx-13 or later"},
           menus::kHardware}};
}

HostCause of_part(HostPart part, std::string what) {
  const HostPartInfo& info = about(part);
  return {std::move(what), {}, {info.look, info.change}, info.menu};
}

// A setting of the whole host is good if another adapter of this VM works.
Causes of_port_down(const Snapshot& snapshot, const std::optional<std::string>& function) {
  const auto adapters = snapshot.adapters.value_or({});
  const auto active = std::find_if(adapters.begin(), adapters.end(), [&](const Adapter& other) {
    return other.function != function && other.rdma_device.is_known() &&
           other.rdma_device.get()->port.state.is(PortState::Active);
  });
  HostCause host = of_part(HostPart::Vmknic, "Net.PVRDMAVmknic is not set on the ESXi host.");
  HostCause wall = of_part(HostPart::Firewall,
                           "The host's firewall rule set pvrdma (TCP 28250-28761) is disabled.");
  HostCause network{
      "The distributed switch has no uplink on this host, or the vmknics of the hosts do not "
      "reach each other.",
      {},
      {about(HostPart::Nics).look, about(HostPart::RdmaDevices).look,
       "vmkping -I vmk0 ADDRESS_OF_ANOTHER_HOST"},
      menus::kUplinks};
  if (active == adapters.end()) {
    host.because = wall.because = "link and carrier are up, and no other adapter is ACTIVE";
    network.because = "less likely, as the guest sees a carrier";
    return {host, wall, network};
  }
  const std::string other =
      "the port of " + active->rdma_device.get()->name + " is ACTIVE on this host";
  network.because = other + ", so what holds for the whole host is good";
  host.because = wall.because = "less likely: " + other;
  return {network, host, wall};
}

Causes of_no_carrier() {
  return {{"The network adapter is not connected.",
           "the guest's link is up and has no carrier",
           {},
           menus::kAdapterConnected},
          {"Its port group has no uplink.",
           "the guest's link is up and has no carrier",
           {about(HostPart::Nics).look, about(HostPart::Switch).look},
           menus::kUplinks}};
}

Causes causes_of(const Finding& finding, const Snapshot& snapshot, const Survey& survey) {
  if (finding.id == FindingId::NoRdmaFunction || finding.id == FindingId::NoAdapter)
    return of_missing_function(survey);
  if (finding.id == FindingId::PortDown) return of_port_down(snapshot, finding.adapter);
  if (finding.id == FindingId::NoCarrier) return of_no_carrier();
  return {{finding.remedy, "it is what the guest's finding says", {}, {}}};
}

}  // namespace

std::vector<HostTrouble> host_troubles(const Snapshot& snapshot, const Survey& survey,
                                       const std::vector<Finding>& findings) {
  std::vector<HostTrouble> troubles;
  // The agent does not count a reload by hand, so a port that is down counts with each actor.
  for (const Finding& finding : findings)
    if (finding.actor == Actor::Host || finding.id == FindingId::PortDown)
      troubles.push_back(
          {finding.id, finding.adapter, finding.summary, causes_of(finding, snapshot, survey)});
  return troubles;
}

}  // namespace pvrdma::doctor
