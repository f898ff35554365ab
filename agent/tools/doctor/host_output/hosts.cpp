// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the hosts of a paste apart, and lists of one host that contradict each other.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "agent/tools/doctor/host_output/tables.hpp"

namespace pvrdma::doctor {

namespace {

// A cluster has at most 96 hosts. The tables of more hosts, in a hostile text, are one host's.
constexpr std::size_t kMostHosts = 100;

// Empty: not named.
std::string name_of(const std::string& host) { return is_host_name(host) ? lower(host) : ""; }

// The number of the last run of each command that has an answer, by host and text.
using LastRuns = std::map<std::pair<std::string, std::string>, std::size_t>;

LastRuns last_runs(const std::vector<PastedCommand>& commands) {
  LastRuns last;
  for (std::size_t at = 0; at < commands.size(); ++at)
    if (commands[at].is_answered && !name_of(commands[at].host).empty())
      last[{name_of(commands[at].host), commands[at].text}] = at + 1;
  return last;
}

bool was_run_again(const PastedTable& table, const LastRuns& last) {
  const auto run = last.find({name_of(table.host), table.command});
  return run != last.end() && table.run < run->second;
}

// True where the command was run and printed nothing: esxcli prints nothing for an empty list.
bool is_empty_device_list(const std::vector<PastedCommand>& commands, std::size_t at) {
  return at + 1 < commands.size() && commands[at].at_prompt && !commands[at].is_answered &&
         commands[at + 1].at_prompt && has_part(commands[at].text, "rdma device list");
}

// Adds tables and commands to the host of that name.
class Hosts {
 public:
  explicit Hosts(const Paste& paste) {
    std::set<std::string> names;
    for (const PastedTable& table : paste.tables) names.insert(name_of(table.host));
    names.erase("");
    are_several_ = names.size() > 1;
    if (names.size() == 1) only_name_ = *names.begin();
  }

  PastedHost& operator[](const std::string& host) {
    const std::string name = are_several_ ? name_of(host) : only_name_;
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return hosts_[known->second];
    if (hosts_.size() == kMostHosts) return hosts_.back();
    numbers_[name] = hosts_.size();
    return hosts_.emplace_back(PastedHost{name, {}});
  }

  std::vector<PastedHost> take() { return std::move(hosts_); }

 private:
  bool are_several_ = false;
  std::string only_name_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<PastedHost> hosts_;
};

// A list that has a row for each thing: the column with its name, and columns that tell whether two
// rows agree, whichever command printed them.
struct List {
  HostPart part;
  const char* key;
  std::array<const char*, 4> values;  // null: no more
};
constexpr std::array<List, 6> kLists{{
    {HostPart::RdmaDevices, "Name", {"State", "Paired Uplink"}},
    {HostPart::Nics, "Name", {"Link", "Link Status", "MAC Address", "MTU"}},
    {HostPart::Protocols, "Device", {"RoCE v1", "RoCE v2", "iWARP"}},
    {HostPart::FlowControl, "NIC", {"Pause RX", "Pause TX"}},
    {HostPart::Vmknic, "Path", {"String Value"}},
    {HostPart::Firewall, "Name", {"Enabled"}},
}};

bool agree(const TableRow& left, const TableRow& right, const List& list) {
  return std::all_of(list.values.begin(), list.values.end(), [&](const char* value) {
    return value == nullptr || !left.table->has({value}) || !right.table->has({value}) ||
           lower(left[value]) == lower(right[value]);
  });
}

// A row, and an earlier one about the same thing with other values.
std::optional<std::pair<TableRow, TableRow>> contradiction(const std::vector<TableRow>& rows,
                                                           const List& list) {
  std::map<std::string, TableRow> seen;
  for (const TableRow& row : rows) {
    const auto [at, is_new] = seen.try_emplace(row[list.key], row);
    if (!is_new && !agree(row, at->second, list)) return std::pair{row, at->second};
  }
  return std::nullopt;
}

}  // namespace

std::vector<PastedHost> hosts_in(const Paste& paste) {
  const LastRuns last = last_runs(paste.commands);
  Hosts hosts{paste};
  for (const PastedTable& table : paste.tables)
    if (!was_run_again(table, last)) hosts[table.host].tables.push_back(&table);
  for (std::size_t at = 0; at < paste.commands.size(); ++at)
    if (is_empty_device_list(paste.commands, at))
      hosts[paste.commands[at].host].has_empty_device_list = true;
  return hosts.take();
}

void take_contradictions(HostTables& host, HostReading& reading) {
  for (const List& list : kLists) {
    const auto rows = contradiction(host.rows(list.part), list);
    if (!rows) continue;
    const auto& [row, before] = *rows;
    reading.remarks.push_back(
        remark(Weight::Unknown, list.part, row.line(),
               told(row[list.key]) + " is there twice, with other values in line " +
                   std::to_string(before.line()),
               "the lists are of two hosts, or of two times: give the text of one host, or copy "
               "the prompts as well, which name the hosts"));
    host.by_part.at(static_cast<std::size_t>(list.part)).clear();
    if (list.part == HostPart::RdmaDevices) host.has_device_list = false;
  }
}

}  // namespace pvrdma::doctor
