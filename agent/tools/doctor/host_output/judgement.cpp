// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_output/judgement.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/tools/doctor/host_output/uplinks.hpp"

namespace pvrdma::doctor {

namespace {

// `esxcli network nic stats get` has packets too, of NICs that need not carry RDMA.
bool is_statistics(const PastedTable& table) {
  if (table.has({"Receive packets dropped"}) || table.has({"Total receive errors"})) return false;
  return std::any_of(table.columns.begin(), table.columns.end(), [](const std::string& column) {
    const std::string name = lower(column);
    return has_part(name, "packets ") || name.starts_with("queue pairs ");
  });
}

// `esxcli network ip interface list` also has the columns Name and Enabled.
bool is_firewall(const PastedTable& table) {
  return table.has({"Name", "Enabled"}) && !table.has({"Portset"});
}

bool is_vmknic(const PastedTable& table) {
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    if (table.cell(row, "Path") == "/Net/PVRDMAVmknic") return true;
  return false;
}

// Tells the part by the names of columns.
template <const auto& names>
bool has_all(const PastedTable& table) {
  return std::all_of(std::begin(names), std::end(names),
                     [&](const char* name) { return table.has({name}); });
}

constexpr std::array kProperties{"Physical HCA available"};
constexpr std::array kDevices{"Paired Uplink"};
constexpr std::array kProtocols{"Device", "RoCE v2"};
constexpr std::array kRules{"Ruleset", "Port Begin"};
constexpr std::array kNics{"Name", "Duplex", "MTU"};
constexpr std::array kSwitch{"VDS ID"};
constexpr std::array kSwitchPort{"Client", "DVPortgroup ID"};
constexpr std::array kPause{"NIC", "Pause RX"};
constexpr std::array kModules{"Name", "Is Enabled"};
constexpr std::array kWorld{"World ID"};

struct Kind {
  HostPart part;
  bool (*is)(const PastedTable& table);
  Judge* judge;  // null: another entry of this part has it
};
// In the order of the display of equal remarks.
constexpr std::array<Kind, 13> kKinds{{
    {HostPart::Properties, has_all<kProperties>, judge_properties},
    {HostPart::Statistics, is_statistics, judge_statistics},
    {HostPart::Vmknic, is_vmknic, judge_vmknic},
    {HostPart::Firewall, is_firewall, judge_firewall},
    {HostPart::Rules, has_all<kRules>, judge_rules},
    {HostPart::RdmaDevices, has_all<kDevices>, judge_devices},
    {HostPart::Protocols, has_all<kProtocols>, judge_protocols},
    {HostPart::Nics, has_all<kNics>, judge_nics},
    {HostPart::Switch, has_all<kSwitch>, judge_switches},
    {HostPart::Switch, has_all<kSwitchPort>, nullptr},
    {HostPart::FlowControl, has_all<kPause>, judge_flow_control},
    {HostPart::Modules, has_all<kModules>, judge_modules},
    {HostPart::WorldId, has_all<kWorld>, judge_world},
}};

// Without prompts between them, the outputs of several commands are one block, of several kinds.
HostTables sorted(const PastedHost& pasted, HostReading& reading) {
  HostTables host;
  for (const PastedTable* table : pasted.tables) {
    bool is_known = false;
    for (const Kind& kind : kKinds) {
      if (!kind.is(*table)) continue;
      auto& tables = host.by_part.at(static_cast<std::size_t>(kind.part));
      if (tables.empty() || tables.back() != table) tables.push_back(table);
      is_known = true;
    }
    if (!is_known) reading.unknown.push_back(table->place);
  }
  host.has_device_list =
      !host.tables(HostPart::RdmaDevices).empty() || pasted.has_empty_device_list;
  return host;
}

// All parts but the properties, which tell the adapters of this VM.
void note_missing(const HostTables& host, HostReading& reading) {
  for (const HostPartInfo& info : kHostParts) {
    if (info.part == HostPart::Properties) continue;
    const bool is_there = std::any_of(reading.remarks.begin(), reading.remarks.end(),
                                      [&](const HostRemark& one) { return one.part == info.part; });
    if (is_there || !host.rows(info.part).empty()) continue;
    MissingPart missing{info.part, info.look, info.is_required};
    const auto devices = host.rows(HostPart::RdmaDevices);
    if (info.part == HostPart::Statistics && host.has_no_device()) continue;
    if (info.part == HostPart::Statistics && !devices.empty())
      missing.command = statistics_command(devices.front()["Name"]);
    if (info.part == HostPart::Protocols) missing.is_required = needs_protocols(host);
    reading.missing.push_back(std::move(missing));
  }
}

HostReading judge(HostTables& host, const std::string& name, const GuestVm& guest) {
  HostReading reading;
  take_contradictions(host, reading);
  for (const Kind& kind : kKinds)
    if (kind.judge != nullptr) kind.judge(host, guest, reading);
  note_missing(host, reading);
  for (HostRemark& one : reading.remarks) one.host = name;
  for (MissingPart& one : reading.missing) one.host = name;
  return reading;
}

}  // namespace

const char* to_string(Weight weight) {
  constexpr std::array kNames{"change", "unknown", "info", "good"};  // by number of Weight
  return kNames.at(static_cast<std::size_t>(weight));
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_alphanumeric);
}

HostRemark remark(Weight weight, HostPart part, std::size_t line, std::string says,
                  std::string means) {
  HostRemark one{weight, part, line, std::move(says), std::move(means)};
  if (weight != Weight::Change) return one;
  const HostPartInfo& info = about(part);
  one.commands.emplace_back(*info.change == '\0' ? info.look : info.change);
  one.menu = info.menu;
  return one;
}

HostReading judge_host_output(std::string_view text, const GuestVm& guest) {
  Paste paste = parse_paste(text);
  HostReading reading;
  reading.unknown = std::move(paste.other);
  HostTables all;
  std::vector<HostTables> by_host;
  const auto hosts = hosts_in(paste);
  for (const PastedHost& host : hosts) {
    by_host.push_back(sorted(host, reading));
    for (std::size_t part = 0; part < all.by_part.size(); ++part)
      append(all.by_part[part], by_host.back().by_part[part]);
  }
  for (std::string& command : missing_properties(all, guest))
    reading.missing.push_back({HostPart::Properties, std::move(command), true});
  if (by_host.empty()) note_missing({}, reading);
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    HostReading one = judge(by_host[at], hosts[at].name, guest);
    append(reading.remarks, std::move(one.remarks));
    append(reading.missing, std::move(one.missing));
    reading.hosts.push_back(hosts[at].name);
  }
  std::stable_sort(reading.remarks.begin(), reading.remarks.end(),
                   [](const auto& left, const auto& right) { return left.weight < right.weight; });
  std::stable_sort(reading.unknown.begin(), reading.unknown.end(),
                   [](const auto& left, const auto& right) { return left.line < right.line; });
  return reading;
}

}  // namespace pvrdma::doctor
