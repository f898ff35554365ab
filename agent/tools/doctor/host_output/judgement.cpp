// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/doctor/host_output/judgement.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "agent/tools/doctor/host_output/uplinks.hpp"

namespace pvrdma::doctor {

namespace {

HostRemark remark(Weight weight, HostPart part, std::size_t line, std::string says,
                  std::string means) {
  HostRemark one{weight, part, line, std::move(says), std::move(means)};
  if (weight != Weight::Change) return one;
  const HostPartInfo& info = about(part);
  one.commands.emplace_back(*info.change == '\0' ? info.look : info.change);
  one.menu = info.menu;
  return one;
}

// The word after `name` in a command, up to a blank or a slash.
std::string word_after(const std::string& command, std::string_view name) {
  const std::size_t at = command.find(name);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size();
  return command.substr(begin, command.find_first_of(" /\"", begin) - begin);
}

// The user copies this into a shell, so a name with more than letters and digits is left out.
std::string statistics_command(const std::string& device) {
  const bool is_name =
      !device.empty() && std::all_of(device.begin(), device.end(), is_alphanumeric);
  return is_name ? "esxcli rdma device stats get -d " + device : about(HostPart::Statistics).look;
}

HostRemark properties(const PastedDetails& details, const std::string& available) {
  const std::string adapter = word_after(details.command, "pvrdmaDevices/");
  const std::string says = (adapter.empty() ? "" : adapter + ": ") + "Physical HCA available: " +
                           (available.empty() ? "(nothing)" : available);
  const auto about_it = [&](Weight weight, const char* means) {
    return remark(weight, HostPart::Properties, details.place.line, says, means);
  };
  if (available == "1")
    return about_it(Weight::Good,
                    "this adapter goes over RDMA to VMs on hosts that have an RDMA NIC as well");
  if (available != "0") return about_it(Weight::Unknown, "neither 0 nor 1: not understood");
  HostRemark none = about_it(
      Weight::Change,
      "this adapter goes over TCP, at reduced performance, to VMs on other hosts; make a NIC that "
      "supports RoCE the only uplink of the distributed switch on this host");
  none.commands = {about(HostPart::RdmaDevices).look};
  return none;
}

HostRemark vmknic(const PastedDetails& details) {
  const std::string* value = details.value("String Value");
  const auto about_it = [&](Weight weight, const std::string& says, const char* means) {
    return remark(weight, HostPart::Vmknic, details.place.line, says, means);
  };
  if (value == nullptr)
    return about_it(Weight::Unknown, "no String Value", "it was not pasted whole");
  if (value->empty())
    return about_it(Weight::Change, "Net.PVRDMAVmknic is not set",
                    "the ports of this VM's adapters stay DOWN; choose a VMkernel adapter that "
                    "those of the other hosts reach");
  if (!value->starts_with("vmk"))
    return about_it(Weight::Change, "Net.PVRDMAVmknic is " + *value,
                    "that is no VMkernel adapter, so the ports stay DOWN");
  return about_it(
      Weight::Good, "Net.PVRDMAVmknic is " + *value,
      "the hosts exchange PVRDMA's control messages over it; it must reach the VMkernel "
      "adapters of the other hosts");
}

bool counts_trouble(const std::string& key) {
  const std::string name = lower(key);
  return name.find("error") != std::string::npos || name.find("drop") != std::string::npos ||
         name.find("discard") != std::string::npos || name.ends_with("err state");
}

HostRemark statistics(const PastedDetails& details) {
  std::size_t counted = 0;
  std::vector<std::string> troubles;
  for (const auto& [key, value] : details.entries) {
    const auto number = number_from<unsigned long long>(value);
    if (!number || !counts_trouble(key)) continue;
    ++counted;
    if (*number != 0) troubles.push_back(key + ": " + value);
  }
  const bool is_of_stats = details.command.find("stats get") != std::string::npos;
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
    return about_it(Weight::Unknown, "none of its counters is known as one of errors",
                    "whether packets are lost is not told");
  return about_it(Weight::Good, "no errors", "the counters of the host's RDMA NIC show no loss");
}

bool is_statistics(const PastedDetails& details) {
  return std::any_of(details.entries.begin(), details.entries.end(), [](const auto& entry) {
    const std::string name = lower(entry.first);
    return name.find("packets ") != std::string::npos || name.starts_with("queue pairs ");
  });
}

// Without prompts between them, the outputs of several commands are one block.
void judge(const PastedDetails& details, HostReading& reading) {
  const std::size_t before = reading.remarks.size();
  if (const std::string* available = details.value("Physical HCA available"))
    reading.remarks.push_back(properties(details, *available));
  if (const std::string* path = details.value("Path"); path && *path == "/Net/PVRDMAVmknic")
    reading.remarks.push_back(vmknic(details));
  if (is_statistics(details)) reading.remarks.push_back(statistics(details));
  if (reading.remarks.size() == before) reading.unknown.push_back(details.place);
}

void judge_firewall(const PastedTable& table, HostReading& reading) {
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (table.cell(row, 0) != "pvrdma") continue;
    const std::string& enabled = table.cell(row, 1);
    const auto add = [&](Weight weight, const std::string& says, const char* means) {
      reading.remarks.push_back(remark(weight, HostPart::Firewall, table.lines[row], says, means));
    };
    if (enabled == "true")
      add(Weight::Good, "rule set pvrdma is enabled",
          "the firewall lets PVRDMA's control messages through");
    else if (enabled == "false")
      add(Weight::Change, "rule set pvrdma is not enabled",
          "the ports of this VM's adapters stay DOWN, or connections to other hosts fail");
    else
      add(Weight::Unknown, "rule set pvrdma: " + enabled, "neither true nor false");
    return;
  }
  reading.remarks.push_back(remark(Weight::Unknown, HostPart::Firewall, table.place.line,
                                   "the rule sets in it do not have pvrdma",
                                   "it was not pasted whole, or this host has no PVRDMA"));
}

// True where the command was run and printed nothing: esxcli prints nothing for an empty list.
bool ran_without_answer(const std::vector<PastedCommand>& commands) {
  for (std::size_t at = 0; at + 1 < commands.size(); ++at)
    if (commands[at].at_prompt && !commands[at].is_answered && commands[at + 1].at_prompt &&
        commands[at].text.find("rdma device list") != std::string::npos)
      return true;
  return false;
}

void note_missing(const Uplinks& uplinks, HostReading& reading) {
  for (const HostPartInfo& info : kHostParts) {
    const bool is_there = std::any_of(reading.remarks.begin(), reading.remarks.end(),
                                      [&](const HostRemark& one) { return one.part == info.part; });
    const bool has_none = info.part == HostPart::Statistics && uplinks.has_no_device();
    if (is_there || has_none) continue;
    MissingPart missing{info.part, info.look};
    if (info.part == HostPart::Statistics && !uplinks.devices.empty())
      missing.command = statistics_command(uplinks.devices.front().name);
    reading.missing.push_back(std::move(missing));
  }
}

}  // namespace

const char* to_string(Weight weight) {
  constexpr std::array kNames{"change", "unknown", "info", "good"};  // by number of Weight
  return kNames.at(static_cast<std::size_t>(weight));
}

HostReading judge_host_output(std::string_view text, const std::vector<GuestLink>& guest) {
  Paste paste = parse_paste(text);
  HostReading reading;
  reading.unknown = std::move(paste.other);
  for (const PastedDetails& details : paste.details) judge(details, reading);
  Uplinks uplinks;
  for (const PastedTable& table : paste.tables) {
    if (table.columns.size() >= 2 && table.columns[0] == "Name" && table.columns[1] == "Enabled")
      judge_firewall(table, reading);
    else if (!uplinks.take(table))
      reading.unknown.push_back(table.place);
  }
  uplinks.has_device_list = uplinks.has_device_list || ran_without_answer(paste.commands);
  judge_uplinks(uplinks, guest, reading);
  note_missing(uplinks, reading);
  std::stable_sort(reading.remarks.begin(), reading.remarks.end(),
                   [](const auto& left, const auto& right) { return left.weight < right.weight; });
  std::stable_sort(reading.unknown.begin(), reading.unknown.end(),
                   [](const auto& left, const auto& right) { return left.line < right.line; });
  return reading;
}

}  // namespace pvrdma::doctor
