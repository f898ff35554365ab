// SPDX-License-Identifier: GPL-2.0-or-later
// The VMkernel adapter, the firewall and the statistics of an ESXi host, as pasted.
#include <algorithm>

#include "agent/tools/doctor/host_output/tables.hpp"

namespace pvrdma::doctor {

namespace {

constexpr unsigned kFirstPort = 28250;  // of PVRDMA's control messages
constexpr unsigned kLastPort = 28761;

HostRemark vmknic(const TableRow& setting) {
  const auto about_it = [&](Weight weight, const std::string& says, const char* means) {
    return remark(weight, HostPart::Vmknic, setting.line(), says, means);
  };
  const std::string& value = setting["String Value"];
  if (!setting.table->has({"String Value"}))
    return about_it(Weight::Unknown, "no String Value", "it was not pasted whole");
  if (value.empty())
    return about_it(Weight::Change, "Net.PVRDMAVmknic is not set",
                    "the ports of this VM's adapters stay DOWN; choose a VMkernel adapter that "
                    "those of the other hosts reach");
  if (!value.starts_with("vmk"))
    return about_it(Weight::Change, "Net.PVRDMAVmknic is " + value,
                    "that is no VMkernel adapter, so the ports stay DOWN");
  return about_it(
      Weight::Good, "Net.PVRDMAVmknic is " + value,
      "the hosts exchange PVRDMA's control messages over it; it must reach the VMkernel "
      "adapters of the other hosts");
}

HostRemark firewall(const TableRow& rule_set) {
  const std::string& enabled = rule_set["Enabled"];
  const auto about_it = [&](Weight weight, const std::string& says, const char* means) {
    return remark(weight, HostPart::Firewall, rule_set.line(), says, means);
  };
  if (enabled == "true")
    return about_it(Weight::Good, "rule set pvrdma is enabled",
                    "the firewall lets PVRDMA's control messages through");
  if (enabled == "false")
    return about_it(Weight::Change, "rule set pvrdma is not enabled",
                    "the ports of this VM's adapters stay DOWN, or connections to other hosts "
                    "fail");
  return about_it(Weight::Unknown, "rule set pvrdma: " + told(enabled), "neither true nor false");
}

// The rows about pvrdma, or an unknown remark where the tables have none.
std::vector<TableRow> pvrdma_rows(const HostTables& host, HostPart part, const char* column,
                                  HostReading& reading) {
  std::vector<TableRow> rows = host.rows(part);
  std::erase_if(rows, [&](const TableRow& row) { return row[column] != "pvrdma"; });
  if (rows.empty() && !host.tables(part).empty())
    reading.remarks.push_back(remark(Weight::Unknown, part, host.tables(part).front()->place.line,
                                     "the rule sets in it do not have pvrdma",
                                     "it was not pasted whole, or this host has no PVRDMA"));
  return rows;
}

bool counts_trouble(const std::string& key) {
  const std::string name = lower(key);
  return has_part(name, "error") || has_part(name, "drop") || has_part(name, "discard") ||
         name.ends_with("err state");
}

HostRemark statistics(const PastedTable& details) {
  std::size_t counted = 0;
  std::vector<std::string> troubles;
  for (const std::string& column : details.columns) {
    const std::string& value = details.cell(0, column);
    const auto number = number_from<unsigned long long>(value);
    if (!number || !counts_trouble(column)) continue;
    ++counted;
    if (*number != 0) troubles.push_back(column + ": " + value);
  }
  const bool is_of_stats = has_part(details.command, "stats get");
  std::string device = is_of_stats ? word_after(details.command, "-d ") : "";
  if (is_of_stats && device.empty()) device = word_after(details.command, "--device ");
  const std::string of = device.empty() ? "" : device + ": ";
  const auto about_it = [&](Weight weight, const std::string& says, const char* means) {
    return remark(weight, HostPart::Statistics, details.place.line, of + says, means);
  };
  if (!troubles.empty()) {
    HostRemark found = about_it(
        Weight::Change, joined(troubles),
        "packets were lost or refused since the host's driver was loaded, and RoCE is slow where "
        "they are; if the numbers grow, check flow control (PFC) and MTU of the physical switch");
    found.commands = {statistics_command(device)};
    return found;
  }
  if (counted == 0)
    return about_it(Weight::Info, "none of its counters is known as one of errors",
                    "whether packets are lost is not told: the command is for physical functions "
                    "and need not work with PVRDMA");
  return about_it(Weight::Good, "no errors", "the counters of the host's RDMA NIC show no loss");
}

}  // namespace

std::string statistics_command(const std::string& device) {
  return is_plain_name(device) ? "esxcli rdma device stats get -d " + device
                               : about(HostPart::Statistics).look;
}

void judge_vmknic(const HostTables& host, const GuestVm& /*guest*/, HostReading& reading) {
  for (const TableRow& row : host.rows(HostPart::Vmknic))
    if (row["Path"] == "/Net/PVRDMAVmknic") reading.remarks.push_back(vmknic(row));
}

void judge_firewall(const HostTables& host, const GuestVm& /*guest*/, HostReading& reading) {
  const auto rows = pvrdma_rows(host, HostPart::Firewall, "Name", reading);
  if (!rows.empty()) reading.remarks.push_back(firewall(rows.front()));
}

void judge_rules(const HostTables& host, const GuestVm& /*guest*/, HostReading& reading) {
  const auto rows = pvrdma_rows(host, HostPart::Rules, "Ruleset", reading);
  if (rows.empty()) return;
  std::vector<std::string> rules;
  bool lets_in = false;
  for (const TableRow& rule : rows) {
    rules.push_back(lower(rule["Direction"]) + " " + rule["Protocol"] + " " + rule["Port Begin"] +
                    "-" + rule["Port End"]);
    lets_in = lets_in || (rule["Direction"] == "Inbound" && rule["Protocol"] == "TCP" &&
                          number_from<unsigned>(rule["Port Begin"]).value_or(~0U) <= kFirstPort &&
                          number_from<unsigned>(rule["Port End"]).value_or(0) >= kLastPort);
  }
  reading.remarks.push_back(
      remark(lets_in ? Weight::Good : Weight::Unknown, HostPart::Rules, rows.front().line(),
             "rule set pvrdma: " + joined(rules),
             lets_in ? "the ports of PVRDMA's control messages, where the rule set is enabled"
                     : "PVRDMA's control messages come in by TCP 28250-28761; these rules are not "
                       "known to let them in"));
}

void judge_statistics(const HostTables& host, const GuestVm& /*guest*/, HostReading& reading) {
  for (const PastedTable* table : host.tables(HostPart::Statistics))
    if (!table->rows.empty()) reading.remarks.push_back(statistics(*table));
}

}  // namespace pvrdma::doctor
