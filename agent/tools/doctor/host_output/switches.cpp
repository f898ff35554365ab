// SPDX-License-Identifier: GPL-2.0-or-later
// The distributed switches, the flow control and the driver modules of the host, as pasted.
#include <algorithm>

#include "agent/tools/doctor/host_output/uplinks.hpp"

namespace pvrdma::doctor {

namespace {

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty())
    if (const std::string_view word = trimmed(cut(list, ',')); !word.empty())
      words.emplace_back(word);
  return words;
}

// A port's client is "NAME.eth1" where it is a VM's.
bool is_client(const std::string& client, const std::vector<std::string>& names) {
  const std::size_t end = client.rfind(".eth");
  return end != std::string::npos && contains(names, lower(client.substr(0, end)));
}

// The rows of switches; `esxcli network vswitch dvs vmware list` also prints their ports, of which
// the first is in the switch's own block.
std::vector<TableRow> switches_of(const HostTables& host) {
  auto rows = host.rows(HostPart::Switch);
  std::erase_if(rows, [](const TableRow& row) { return row["VDS ID"].empty(); });
  return rows;
}

// Of several switches two are enough to know that there are several.
void add_switch(const TableRow& one, std::vector<TableRow>& switches) {
  if (switches.size() < 2 && std::ranges::none_of(switches, [&](const TableRow& other) {
        return other["VDS ID"] == one["VDS ID"];
      }))
    switches.push_back(one);
}

// The distributed switch with a port of this VM; else the only one. None: not known, as where ports
// that may be an adapter's are at several: the list tells them by their numbers alone, in which the
// VM's regular NICs count too. Only of the first the guest knows whether that is an adapter's.
std::optional<TableRow> switch_of(const HostTables& host, const GuestVm& guest) {
  std::optional<TableRow> last;
  std::vector<TableRow> of_first, of_others;
  const auto names = names_of_vm(host, guest);
  for (const TableRow& row : host.rows(HostPart::Switch)) {
    if (!row["VDS ID"].empty()) last = row;
    if (last && is_client(row["Client"], names))
      add_switch(*last, row["Client"].ends_with(".eth0") ? of_first : of_others);
  }
  const bool only_first = guest.first_is_adapter == true && guest.links.size() == 1;
  auto candidates = only_first ? std::vector<TableRow>{} : of_others;
  if (guest.first_is_adapter.value_or(of_others.empty()))
    for (const TableRow& one : of_first) add_switch(one, candidates);
  if (candidates.empty()) candidates = switches_of(host);
  return candidates.size() == 1 ? std::optional{candidates.front()} : std::nullopt;
}

HostRemark of_switch(const TableRow& one, const HostTables& host, const GuestVm& guest) {
  const auto nics = words_of(one["Uplinks"]);
  const std::string name = told(one["Name"]);
  const auto about_it = [&](Weight weight, const std::string& says, const char* means) {
    return remark(weight, HostPart::Switch, one.line(), name + ": " + says, means);
  };
  if (!one.table->has({"Uplinks"}))
    return about_it(Weight::Unknown, "no line Uplinks", "it was not pasted whole");
  if (nics.empty())
    return about_it(Weight::Change, "no uplink on this host",
                    "no packet leaves the host over this switch; make a NIC that supports RoCE "
                    "its only uplink");
  if (nics.size() > 1)
    return about_it(Weight::Change,
                    std::to_string(nics.size()) + " uplinks on this host: " + joined(nics),
                    "PVRDMA supports no teaming: one NIC, which supports RoCE, must be the only "
                    "uplink on each host. The names of uplink ports, such as Uplink 1 to Uplink 4, "
                    "do not count");
  const auto devices = uplinks_of(host, guest).devices;
  if (host.has_device_list && find_in(devices, nics.front(), &HostDevice::uplink) == nullptr)
    return about_it(Weight::Change, "its uplink is " + nics.front(),
                    "no RDMA device is paired with it, so this VM's adapters go over TCP to VMs on "
                    "other hosts; make a NIC that supports RoCE the only uplink");
  return with_mtu(
      about_it(Weight::Good, "its uplink is " + nics.front() + ", MTU " + told(one["MTU"]),
               "one uplink, as PVRDMA needs"),
      one["MTU"], with_largest_mtu(guest));
}

// Whether a driver's module options switch on priority flow control ("pfctx=0x08"). None: the paste
// lacks those of the driver that has this option.
std::optional<bool> has_priority_flow_control(const HostTables& host) {
  std::optional<bool> has;
  for (const TableRow& row : host.rows(HostPart::Modules)) {
    const std::string& options = row["Options"];
    if (row["Name"] == "nmlx5_core" && !options.empty()) has = false;
    const std::size_t at = options.find("pfctx=");
    if (at == std::string::npos) continue;
    // A mask of priorities, "0x08" or "8".
    const std::size_t digit = options.find_first_not_of("0x", at + 6);
    if (digit != std::string::npos && is_hex(options[digit])) return true;
  }
  return has;
}

bool carries_rdma(const std::string& nic, const Uplinks& uplinks) {
  if (uplinks.of_switch) return contains(*uplinks.of_switch, nic);
  return uplinks.devices.empty() || find_in(uplinks.devices, nic, &HostDevice::uplink) != nullptr;
}

HostRemark of_pause(const TableRow& row, std::optional<bool> has_priority) {
  const std::string& nic = row["NIC"];
  const std::string says =
      nic + ": Pause RX " + told(row["Pause RX"]) + ", Pause TX " + told(row["Pause TX"]);
  const auto about_it = [&](Weight weight, const char* means) {
    return remark(weight, HostPart::FlowControl, row.line(), says, means);
  };
  const bool is_on = row["Pause RX"] == "true" && row["Pause TX"] == "true";
  const bool is_told = !row["Pause RX"].empty() && !row["Pause TX"].empty();
  if (!is_told) return about_it(Weight::Unknown, "whether flow control is on is not told");
  if (is_on)
    return about_it(Weight::Good,
                    "global flow control is on; the ports of the physical switch "
                    "need it as well");
  if (has_priority == true)
    return about_it(Weight::Info,
                    "global flow control is off; the driver's options switch on "
                    "priority flow control (PFC), which the ports of the physical "
                    "switch need as well");
  HostRemark off =
      about_it(Weight::Change,
               "flow control is off, and RoCE is slow where packets are lost; switch it on "
               "here and at the ports of the physical switch, unless priority flow control "
               "(PFC) is used");
  if (!has_priority)
    off.means += "; of NVIDIA's NICs `esxcfg-module -g nmlx5_core`, pasted as well, shows it";
  if (is_plain_name(nic))
    off.commands = {"esxcli network nic pauseParams set -r true -t true -n " + nic};
  return off;
}

// None: the text does not list the host's NICs.
std::optional<bool> has_nic_of(const std::string& rdma_driver, const Uplinks& uplinks) {
  if (uplinks.nics.empty()) return std::nullopt;
  return std::ranges::any_of(uplinks.nics, [&](const auto& nic) {
    const char* driver = rdma_driver_of(nic.second.driver);
    return driver != nullptr && driver == rdma_driver;
  });
}

// A host loads only the drivers of NICs that it has, so a module that is not loaded may be no
// fault.
HostRemark of_missing_module(const TableRow& row, const Uplinks& uplinks) {
  const std::string& name = row["Name"];
  const bool is_off = row["Is Enabled"] == "false";
  const auto about_it = [&](Weight weight, const char* means) {
    return remark(weight, HostPart::Modules, row.line(),
                  name + (is_off ? " is disabled" : " is not loaded"), means);
  };
  const auto has_nic = has_nic_of(name, uplinks);
  if (has_nic == false) return about_it(Weight::Info, "the list of NICs has none of this driver");
  const bool has_working_device = one_works(uplinks);
  if (!has_working_device && !is_off && !has_nic)
    return about_it(Weight::Unknown, "whether the host has a NIC of this driver is not told");
  HostRemark one = about_it(has_working_device ? Weight::Info : Weight::Change,
                            "the NICs of this driver have no RDMA device; loaded, it gives them "
                            "one, after a restart of the host where it was disabled");
  one.means += also_needed_by(name);
  if (!has_working_device)
    one.commands = {is_off ? "esxcli system module set -e true -m " + name
                           : "esxcli system module load -m " + name};
  return one;
}

}  // namespace

std::optional<std::vector<std::string>> switch_uplinks(const HostTables& host,
                                                       const GuestVm& guest) {
  const auto one = switch_of(host, guest);
  if (!one || !one->table->has({"Uplinks"})) return std::nullopt;
  return words_of((*one)["Uplinks"]);
}

void judge_switches(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const auto own = switch_of(host, guest);
  for (const TableRow& one : switches_of(host)) {
    if (own && one.table == own->table && one.row == own->row)
      reading.remarks.push_back(of_switch(one, host, guest));
    else
      reading.remarks.push_back(remark(
          own ? Weight::Info : Weight::Unknown, HostPart::Switch, one.line(),
          told(one["Name"]) + ": uplinks " + told(one["Uplinks"]) + ", MTU " + told(one["MTU"]),
          own ? "this VM's adapters are at another switch"
              : "whether this VM's adapters are at this switch is not told"));
  }
}

void judge_flow_control(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const Uplinks uplinks = uplinks_of(host, guest);
  const auto has_priority = has_priority_flow_control(host);
  const auto rows = host.rows(HostPart::FlowControl);
  std::size_t judged = 0;
  for (const TableRow& row : rows)
    if (carries_rdma(row["NIC"], uplinks)) {
      reading.remarks.push_back(of_pause(row, has_priority));
      ++judged;
    }
  if (judged == 0 && !rows.empty())
    reading.remarks.push_back(remark(Weight::Info, HostPart::FlowControl, rows.front().line(),
                                     "NICs: " + std::to_string(rows.size()),
                                     "none is the uplink of an RDMA device"));
}

void judge_modules(const HostTables& host, const GuestVm& guest, HostReading& reading) {
  const Uplinks uplinks = uplinks_of(host, guest);
  for (const TableRow& row : host.rows(HostPart::Modules)) {
    const std::string& name = row["Name"];
    if (!is_rdma_driver(name)) continue;
    if (row["Is Enabled"] == "false" || row["Is Loaded"] == "false")
      reading.remarks.push_back(of_missing_module(row, uplinks));
    else
      reading.remarks.push_back(remark(Weight::Good, HostPart::Modules, row.line(),
                                       name + " is enabled", "the RDMA half of a NIC's driver"));
  }
}

}  // namespace pvrdma::doctor
