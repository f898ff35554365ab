// SPDX-License-Identifier: GPL-2.0-or-later
// Faults that the vSphere administrator may have to repair; the causes that fit the guest's state
// best come first. Pure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "agent/model/health.hpp"
#include "agent/tools/doctor/survey.hpp"
#include "agent/tools/survey/vsphere_menus.hpp"

namespace pvrdma::doctor {

// The parts of an ESXi host on which PVRDMA depends.
enum class HostPart {
  Properties,
  RdmaDevices,
  Statistics,
  Vmknic,
  Firewall,
  Nics,
  Protocols,
  Switch,
  FlowControl,
  Rules,
  Modules,
  WorldId
};

struct HostPartInfo {
  HostPart part;
  const char* id;      // for programs
  const char* name;    // for a person
  const char* look;    // in the ESXi shell
  const char* change;  // in the ESXi shell; empty: no single command does it
  const char* menu;    // in the vSphere Client
  bool is_required;    // without it the host is not known to be good
};

// The index is the number of HostPart.
inline constexpr std::array<HostPartInfo, 12> kHostParts{{
    {HostPart::Properties, "properties", "properties",
     "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/WORLD_INDEX/properties"
     "    # WORLD: esxcli vm process list; INDEX: 0 is the first adapter",
     "", menus::kUplinks, true},
    {HostPart::RdmaDevices, "rdma-devices", "RDMA devices", "esxcli rdma device list", "",
     menus::kRdmaDevices, true},
    {HostPart::Statistics, "statistics", "statistics",
     "esxcli rdma device stats get -d vmrdma0    # of physical functions alone", "",
     menus::kRdmaDevices, false},
    {HostPart::Vmknic, "vmknic", "PVRDMAVmknic",
     "esxcli system settings advanced list -o /Net/PVRDMAVmknic",
     "esxcli system settings advanced set -o /Net/PVRDMAVmknic -s vmk0", menus::kVmknic, true},
    {HostPart::Firewall, "firewall", "firewall", "esxcli network firewall ruleset list -r pvrdma",
     "esxcli network firewall ruleset set -e true -r pvrdma", menus::kFirewall, true},
    {HostPart::Nics, "nics", "NICs", "esxcli network nic list", "", menus::kPhysicalAdapters, true},
    {HostPart::Protocols, "protocols", "protocols", "esxcli rdma device protocol list", "",
     menus::kRdmaDevices, false},
    {HostPart::Switch, "switch", "switch", "esxcli network vswitch dvs vmware list", "",
     menus::kUplinks, false},
    {HostPart::FlowControl, "flow-control", "flow control", "esxcli network nic pauseParams list",
     "", "", false},
    {HostPart::Rules, "rules", "rules", "esxcli network firewall ruleset rule list -r pvrdma", "",
     menus::kFirewall, false},
    {HostPart::Modules, "modules", "modules", "esxcli system module list", "", "", false},
    {HostPart::WorldId, "world-id", "World ID", "esxcli vm process list", "", "", false},
}};

[[nodiscard]] constexpr const HostPartInfo& about(HostPart part) {
  return kHostParts.at(static_cast<std::size_t>(part));
}

struct HostCause {
  std::string what;                   // the possible cause on the host
  std::string because;                // the guest's state that speaks for or against this cause
  std::vector<std::string> commands;  // for the ESXi shell
  std::string menu;                   // in the vSphere Client
};

// A fault that has to be repaired on the host, with its possible causes.
struct HostTrouble {
  FindingId id = FindingId::Other;
  std::optional<std::string> adapter;  // function address
  std::string what;                    // the finding's summary
  std::vector<HostCause> causes;
};

// Takes the findings on which the host's administrator has to act.
[[nodiscard]] std::vector<HostTrouble> host_troubles(const Snapshot& snapshot, const Survey& survey,
                                                     const std::vector<Finding>& findings);

}  // namespace pvrdma::doctor
