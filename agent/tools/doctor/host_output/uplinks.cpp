// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA devices of the host, their protocols and their NICs, as pasted.
#include "agent/tools/doctor/host_output/uplinks.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::doctor {

namespace {

// On ESXi these drivers have their RDMA half in a module of its own. i40en is none of them: with it
// irdman speaks iWARP alone.
constexpr std::array<std::pair<const char*, const char*>, 5> kDriverPairs{
    {{"nmlx5_core", "nmlx5_rdma"},
     {"nmlx4_en", "nmlx4_rdma"},
     {"bnxtnet", "bnxtroce"},
     {"qedentv", "qedrntv"},
     {"icen", "irdman"}}};

// Intel's driver: of its devices X722 speak iWARP alone (release notes of irdman).
bool may_be_iwarp(const HostDevice& device) { return device.driver == "irdman"; }

// The reason why the device carries no RoCE; empty: the paste shows none.
std::string trouble_of(const HostDevice& device, const Uplinks& uplinks) {
  if (device.speaks_roce.has_value() && !*device.speaks_roce)
    return "it speaks iWARP, not RoCE, so it is no device for PVRDMA";
  if (device.uplink.empty() || device.uplink == "N/A" || device.uplink == "None")
    return "it is paired with no uplink";
  const auto nic = uplinks.nics.find(device.uplink);
  if (nic != uplinks.nics.end() && nic->second.link != "Up")
    return "the link of its uplink " + device.uplink + " is " + told(nic->second.link);
  if (device.state != "Active") return "its state is " + told(device.state);
  if (uplinks.of_switch && !contains(*uplinks.of_switch, device.uplink))
    return "its uplink " + device.uplink + " is not that of the distributed switch";
  return "";
}

HostRemark no_device(const Uplinks& uplinks) {
  const HostPartInfo& info = about(HostPart::RdmaDevices);
  HostRemark remark{Weight::Change,
                    HostPart::RdmaDevices,
                    0,
                    "the host has no RDMA device",
                    "this VM's adapters go over TCP, at reduced performance, to VMs on other "
                    "hosts; the host needs a NIC that supports RoCE, with its RDMA driver loaded",
                    {about(HostPart::Modules).look},
                    info.menu};
  for (const auto& [driver, rdma_driver] : kDriverPairs) {
    std::vector<std::string> names;
    for (const auto& [name, nic] : uplinks.nics)
      if (nic.driver == driver) names.push_back(name);
    if (names.empty()) continue;
    remark.says += "; " + joined(names) + (names.size() == 1 ? " has" : " have") + " the driver " +
                   driver + ", whose RDMA half " + rdma_driver + " may not be loaded" +
                   also_needed_by(rdma_driver);
    remark.commands.push_back(std::string{"esxcli system module load -m "} + rdma_driver);
  }
  return remark;
}

HostRemark of_device(const HostDevice& device, const Uplinks& uplinks) {
  HostRemark good{Weight::Good, HostPart::RdmaDevices, device.line,
                  device.name + " is Active, paired with " + device.uplink +
                      (device.protocols.empty() ? "" : ", " + device.protocols),
                  "native RDMA is possible where " + device.uplink +
                      " is the uplink of this VM's distributed switch"};
  if (uplinks.of_switch)
    good.means = "native RDMA is possible: " + device.uplink + " is an uplink of that switch";
  if (!device.speaks_roce && may_be_iwarp(device)) {
    good.weight = Weight::Unknown;
    good.means = "a device of the driver " + device.driver +
                 " may speak iWARP alone, which PVRDMA cannot use";
    good.commands = {about(HostPart::Protocols).look};
  }
  return good;
}

HostRemark of_nic(const std::string& name, const NicRow& nic, const GuestLink* link) {
  HostRemark remark{Weight::Good, HostPart::Nics, nic.line, name + " is Up, MTU " + told(nic.mtu),
                    "no interface of a PVRDMA adapter is here to compare the MTU with"};
  return with_mtu(std::move(remark), nic.mtu, link);
}

// As with devices, one NIC that passes the guest's packets is enough; the MTU of the others may
// stay.
void note_spare(std::vector<HostRemark>& nics) {
  if (std::none_of(nics.begin(), nics.end(),
                   [](const HostRemark& nic) { return nic.weight == Weight::Good; }))
    return;
  for (HostRemark& nic : nics) {
    if (nic.weight != Weight::Change) continue;
    nic.weight = Weight::Info;
    nic.means += ", if it is this NIC's";
    nic.commands.clear();
    nic.menu.clear();
  }
}

// A row of `esxcli rdma device protocol list`.
bool speaks_roce(const TableRow& row) {
  return row["RoCE v1"] == "true" || row["RoCE v2"] == "true";
}

void take_protocols(const HostTables& host, std::vector<HostDevice>& devices) {
  for (const TableRow& row : host.rows(HostPart::Protocols)) {
    HostDevice* device = find_in(devices, row["Device"], &HostDevice::name);
    if (device == nullptr) continue;
    std::vector<std::string> protocols;
    for (const char* protocol : {"RoCE v1", "RoCE v2", "iWARP"})
      if (row[protocol] == "true") protocols.emplace_back(protocol);
    device->protocols = joined(protocols);
    const bool is_told = !row["RoCE v1"].empty() && !row["RoCE v2"].empty();
    if (is_told) device->speaks_roce = speaks_roce(row);
  }
}

}  // namespace

const char* rdma_driver_of(std::string_view driver) {
  for (const auto& [nic_driver, rdma_driver] : kDriverPairs)
    if (driver == nic_driver) return rdma_driver;
  return nullptr;
}

// Release notes of irdman, "Important Notes".
const char* also_needed_by(std::string_view rdma_driver) {
  return rdma_driver == "irdman"
             ? "; its LAN driver icen needs the parameter RDMA as well, and a restart of the host"
             : "";
}

bool is_rdma_driver(std::string_view module) {
  return std::any_of(kDriverPairs.begin(), kDriverPairs.end(),
                     [&](const auto& pair) { return module == pair.second; });
}

Uplinks uplinks_of(const HostTables& host, const GuestVm& guest) {
  Uplinks uplinks;
  for (const TableRow& row : host.rows(HostPart::RdmaDevices))
    uplinks.devices.push_back(
        {row.line(), row["Name"], row["Driver"], row["State"], row["Paired Uplink"]});
  take_protocols(host, uplinks.devices);
  for (const TableRow& row : host.rows(HostPart::Nics)) {
    const bool has_status = row.table->has({"Link Status"});
    uplinks.nics[row["Name"]] = {row.line(), row["Driver"],
                                 row[has_status ? "Link Status" : "Link"], row["MTU"]};
  }
  uplinks.of_switch = switch_uplinks(host, guest);
  return uplinks;
}

HostRemark with_mtu(HostRemark remark, const std::string& told_mtu, const GuestLink* link) {
  const auto mtu = number_from<unsigned>(told_mtu);
  if (!mtu) {
    remark.weight = Weight::Unknown;
    remark.means = "whether its MTU is large enough for this VM is not known";
  } else if (link != nullptr) {
    const bool is_enough = *mtu >= link->mtu;
    remark.means = link->name + " of this VM has MTU " + std::to_string(link->mtu) +
                   (is_enough ? ", which fits"
                              : ": larger packets do not leave the host; give the distributed "
                                "switch that MTU");
    if (is_enough) return remark;
    remark.weight = Weight::Change;
    remark.commands = {about(HostPart::Switch).look};
    remark.menu = menus::kSwitchMtu;
  }
  return remark;
}

const GuestLink* with_largest_mtu(const GuestVm& guest) {
  const auto at = std::max_element(
      guest.links.begin(), guest.links.end(),
      [](const GuestLink& left, const GuestLink& right) { return left.mtu < right.mtu; });
  return at == guest.links.end() ? nullptr : &*at;
}

bool works(const HostDevice& device, const Uplinks& uplinks) {
  return trouble_of(device, uplinks).empty();
}

bool one_works(const Uplinks& uplinks) {
  return std::any_of(uplinks.devices.begin(), uplinks.devices.end(),
                     [&](const HostDevice& device) { return works(device, uplinks); });
}

// One device that works is enough: only `esxcli network vswitch dvs vmware list` tells the uplink
// of the VM's switch.
void judge_devices(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const Uplinks uplinks = uplinks_of(host, guest);
  if (host.has_no_device()) reading.remarks.push_back(no_device(uplinks));
  const bool has_working_device = one_works(uplinks);
  for (const HostDevice& device : uplinks.devices) {
    const std::string trouble = trouble_of(device, uplinks);
    if (trouble.empty()) {
      reading.remarks.push_back(of_device(device, uplinks));
      continue;
    }
    HostRemark one =
        remark(has_working_device ? Weight::Info : Weight::Change, HostPart::RdmaDevices,
               device.line, device.name + " (" + device.driver + "): " + trouble,
               has_working_device ? "of no importance unless the uplink of this VM's "
                                    "distributed switch is paired with it; another device works"
                                  : "no RDMA device of the host works, so this VM's adapters "
                                    "go over TCP to VMs on other hosts");
    if (!has_working_device)
      one.commands = {about(HostPart::Nics).look, about(HostPart::Switch).look};
    reading.remarks.push_back(std::move(one));
  }
}

void judge_protocols(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const Uplinks uplinks = uplinks_of(host, guest);
  for (const TableRow& row : host.rows(HostPart::Protocols)) {
    const HostDevice* device = find_in(uplinks.devices, row["Device"], &HostDevice::name);
    if (device != nullptr) continue;  // judge_devices() tells it
    const bool speaks = speaks_roce(row);
    reading.remarks.push_back(remark(
        Weight::Info, HostPart::Protocols, row.line(),
        told(row["Device"]) + (speaks ? " speaks RoCE" : " speaks no RoCE"),
        speaks ? "whether it works is told by " + std::string{about(HostPart::RdmaDevices).look}
               : "it is no device for PVRDMA"));
  }
}

void judge_nics(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const Uplinks uplinks = uplinks_of(host, guest);
  const GuestLink* link = with_largest_mtu(guest);
  std::vector<HostRemark> nics;
  for (const HostDevice& device : uplinks.devices) {
    const auto nic = uplinks.nics.find(device.uplink);
    if (nic == uplinks.nics.end()) continue;
    if (works(device, uplinks))
      nics.push_back(of_nic(nic->first, nic->second, link));
    else  // judge_devices() tells the reason
      nics.push_back({Weight::Info, HostPart::Nics, nic->second.line,
                      nic->first + " is " + told(nic->second.link),
                      "the uplink of " + device.name + ", which does not work"});
  }
  if (nics.empty() && !uplinks.nics.empty()) {
    const bool has_devices = !uplinks.devices.empty();
    nics.push_back({has_devices ? Weight::Unknown : Weight::Info, HostPart::Nics,
                    uplinks.nics.begin()->second.line,
                    "NICs: " + std::to_string(uplinks.nics.size()),
                    has_devices ? "the uplink of no RDMA device is among them: the lists are of "
                                  "two hosts, or one was not pasted whole"
                                : "none is known to be an RDMA device's"});
  }
  note_spare(nics);
  append(reading.remarks, std::move(nics));
}

bool needs_protocols(const HostTables& host) {
  const Uplinks uplinks = uplinks_of(host, {});
  return std::any_of(uplinks.devices.begin(), uplinks.devices.end(), [](const HostDevice& device) {
    return may_be_iwarp(device) && !device.speaks_roce;
  });
}

}  // namespace pvrdma::doctor
