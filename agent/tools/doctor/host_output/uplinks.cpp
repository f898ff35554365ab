// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_output/uplinks.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma::doctor {

namespace {

// On ESXi these drivers have their RDMA half in a module of its own.
constexpr std::array<std::pair<const char*, const char*>, 5> kDriverPairs{
    {{"nmlx5_core", "nmlx5_rdma"},
     {"nmlx4_en", "nmlx4_rdma"},
     {"bnxtnet", "bnxtroce"},
     {"qedentv", "qedrntv"},
     {"icen", "irdman"}}};

std::string told(const std::string& value) { return value.empty() ? "not told" : value; }

std::string cell(const PastedTable& table, std::size_t row, std::string_view name) {
  const auto column = table.column(name);
  return column ? table.cell(row, *column) : "";
}

// The reason why the device carries no RDMA; empty: the paste shows none.
std::string trouble_of(const RdmaDeviceRow& device, const Uplinks& uplinks) {
  if (device.uplink.empty() || device.uplink == "N/A" || device.uplink == "None")
    return "it is paired with no uplink";
  const auto nic = uplinks.nics.find(device.uplink);
  if (nic != uplinks.nics.end() && nic->second.link != "Up")
    return "the link of its uplink " + device.uplink + " is " + told(nic->second.link);
  if (device.state != "Active") return "its state is " + told(device.state);
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
                    {"esxcli system module list"},
                    info.menu};
  for (const auto& [name, nic] : uplinks.nics)
    for (const auto& [nic_driver, rdma_driver] : kDriverPairs)
      if (nic.driver == nic_driver) {
        remark.says += "; " + name + " has the driver " + nic.driver + ", whose RDMA half " +
                       rdma_driver + " may not be loaded";
        remark.commands.push_back(std::string{"esxcli system module load -m "} + rdma_driver);
        return remark;
      }
  return remark;
}

// One device that works is enough: this output does not tell the uplink of the VM's switch.
void judge_devices(const Uplinks& uplinks, HostReading& reading) {
  const bool one_works =
      std::any_of(uplinks.devices.begin(), uplinks.devices.end(),
                  [&](const RdmaDeviceRow& device) { return trouble_of(device, uplinks).empty(); });
  for (const RdmaDeviceRow& device : uplinks.devices) {
    const std::string trouble = trouble_of(device, uplinks);
    HostRemark remark{Weight::Good, HostPart::RdmaDevices, device.line,
                      device.name + " is Active, paired with " + device.uplink,
                      "native RDMA is possible where " + device.uplink +
                          " is the uplink of this VM's distributed switch"};
    if (!trouble.empty()) {
      remark.says = device.name + " (" + device.driver + "): " + trouble;
      remark.weight = one_works ? Weight::Info : Weight::Change;
      remark.means = one_works ? "of no importance unless the uplink of this VM's distributed "
                                 "switch is paired with it; another device works"
                               : "no RDMA device of the host works, so this VM's adapters go over "
                                 "TCP to VMs on other hosts";
      if (!one_works) {
        remark.commands = {about(HostPart::Nics).look};
        remark.menu = about(HostPart::RdmaDevices).menu;
      }
    }
    reading.remarks.push_back(std::move(remark));
  }
}

// The interface of this VM with the largest MTU; null: there is none.
const GuestLink* largest(const std::vector<GuestLink>& guest) {
  const auto at = std::max_element(
      guest.begin(), guest.end(),
      [](const GuestLink& left, const GuestLink& right) { return left.mtu < right.mtu; });
  return at == guest.end() ? nullptr : &*at;
}

HostRemark of_nic(const std::string& name, const NicRow& nic, const GuestLink* link) {
  HostRemark remark{Weight::Good, HostPart::Nics, nic.line, name + " is Up, MTU " + told(nic.mtu),
                    "no interface of a PVRDMA adapter is here to compare the MTU with"};
  const auto mtu = number_from<unsigned>(nic.mtu);
  if (!mtu) {
    remark.weight = Weight::Unknown;
    remark.means = "whether it is large enough for this VM is not known";
  } else if (link != nullptr) {
    const bool is_enough = *mtu >= link->mtu;
    remark.means = link->name + " of this VM has MTU " + std::to_string(link->mtu) +
                   (is_enough ? ", which fits"
                              : ": larger packets do not leave the host; give the distributed "
                                "switch that MTU");
    if (is_enough) return remark;
    remark.weight = Weight::Change;
    remark.commands = {"esxcli network vswitch dvs vmware list"};
    remark.menu = "Networking > distributed switch > Edit Settings > Advanced > MTU";
  }
  return remark;
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
  }
}

void judge_nics(const Uplinks& uplinks, const GuestLink* link, HostReading& reading) {
  std::vector<HostRemark> nics;
  for (const RdmaDeviceRow& device : uplinks.devices) {
    const auto nic = uplinks.nics.find(device.uplink);
    if (nic == uplinks.nics.end()) continue;
    if (trouble_of(device, uplinks).empty())
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
  reading.remarks.insert(reading.remarks.end(), std::make_move_iterator(nics.begin()),
                         std::make_move_iterator(nics.end()));
}

}  // namespace

bool Uplinks::take(const PastedTable& table) {
  const bool is_devices = table.column("Paired Uplink").has_value();
  const bool is_nics = table.column("MAC Address") && table.column("MTU");
  if (!is_devices && !is_nics) return false;
  has_device_list = has_device_list || is_devices;
  const char* link = table.column("Link Status") ? "Link Status" : "Link";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string name = cell(table, row, "Name");
    if (is_devices)
      devices.push_back({table.lines[row], name, cell(table, row, "Driver"),
                         cell(table, row, "State"), cell(table, row, "Paired Uplink")});
    else
      nics[name] = {table.lines[row], cell(table, row, "Driver"), cell(table, row, link),
                    cell(table, row, "MTU")};
  }
  return true;
}

void judge_uplinks(const Uplinks& uplinks, const std::vector<GuestLink>& guest,
                   HostReading& reading) {
  if (uplinks.has_no_device()) reading.remarks.push_back(no_device(uplinks));
  judge_devices(uplinks, reading);
  judge_nics(uplinks, largest(guest), reading);
}

}  // namespace pvrdma::doctor
