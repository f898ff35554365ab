// SPDX-License-Identifier: GPL-2.0-or-later
// The differences between two Healths.
#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/ctl/rendering.hpp"

namespace pvrdma::ctl {

namespace {

using Lines = std::vector<std::string>;
using FieldReader = std::string (*)(const AdapterHealth& health);

const Netdev* netdev(const AdapterHealth& health) { return health.adapter.netdev.get(); }
const RdmaDevice* rdma(const AdapterHealth& health) { return health.adapter.rdma_device.get(); }

std::string word(std::string text) { return text.empty() ? "none" : printable(text); }
std::string yes_no(bool is_so) { return is_so ? "yes" : "no"; }

std::string port(const AdapterHealth& health) {
  return rdma(health) != nullptr ? word_or(rdma(health)->port.state, "") : "";
}

std::string carrier(const AdapterHealth& health) {
  const bool* carrier = netdev(health) != nullptr ? netdev(health)->carrier.get() : nullptr;
  return carrier != nullptr ? yes_no(*carrier) : "";
}

std::string gids(const AdapterHealth& health) {
  std::vector<std::string> list;
  if (rdma(health) != nullptr)
    for (const Gid& gid : rdma(health)->gids)
      list.push_back(gid.gid + " " + word(gid.type.value_or("")));
  return joined(list);
}

// The fields of an adapter whose changes get a line, with their names in the line. An empty text
// means "none".
constexpr std::array<std::pair<const char*, FieldReader>, 10> kFields{{
    {"state", [](const AdapterHealth& a) { return std::string{to_string(a.state)}; }},
    {"port", port},
    {"driver", [](const AdapterHealth& a) { return a.adapter.driver.value_or(""); }},
    {"RDMA device", [](const AdapterHealth& a) { return rdma(a) ? rdma(a)->name : ""; }},
    {"interface", [](const AdapterHealth& a) { return netdev(a) ? netdev(a)->name : ""; }},
    {"link up", [](const AdapterHealth& a) { return netdev(a) ? yes_no(netdev(a)->link_up) : ""; }},
    {"carrier", carrier},
    {"MTU", [](const AdapterHealth& a) { return netdev(a) ? std::to_string(netdev(a)->mtu) : ""; }},
    {"addresses", [](const AdapterHealth& a) { return netdev(a) ? addresses_of(*netdev(a)) : ""; }},
    {"GIDs", gids},
}};

bool is_same(const AdapterHealth& left, const AdapterHealth& right) {
  return left.adapter.function == right.adapter.function;
}
bool is_same(const Finding& left, const Finding& right) {
  return left.id == right.id && left.adapter == right.adapter;
}

template <typename T>
const T* same_in(const std::vector<T>& list, const T& like) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& one) { return is_same(one, like); });
  return found == list.end() ? nullptr : &*found;
}

void adapter_changes(const Health& before, const Health& after, Lines& lines) {
  for (const AdapterHealth& adapter : after.adapters) {
    const std::string name = printable(adapter.adapter.function);
    const AdapterHealth* old = same_in(before.adapters, adapter);
    if (old == nullptr) {
      lines.push_back(name + ": " + to_string(adapter.state) + ", port " + word(port(adapter)));
      continue;
    }
    for (const auto& [label, read] : kFields)
      if (const auto was = word(read(*old)), is = word(read(adapter)); was != is)
        lines.push_back(name + " " + label + ": " + was + " -> " + is);
  }
  for (const AdapterHealth& adapter : before.adapters)
    if (same_in(after.adapters, adapter) == nullptr)
      lines.push_back(printable(adapter.adapter.function) + ": gone");
}

std::string finding_name(const Finding& finding) {
  return std::string{"finding "} + to_string(finding.id) +
         (finding.adapter ? " of " + printable(*finding.adapter) : "");
}

void finding_changes(const Health& before, const Health& after, Lines& lines) {
  for (const Finding& finding : after.findings) {
    const Finding* old = same_in(before.findings, finding);
    if (old != nullptr && old->summary == finding.summary && old->severity == finding.severity)
      continue;
    lines.push_back(finding_name(finding) + " (" + to_string(finding.severity) +
                    "): " + word(finding.summary));
  }
  for (const Finding& finding : before.findings)
    if (same_in(after.findings, finding) == nullptr)
      lines.push_back(finding_name(finding) + ": gone");
}

void executor_changes(const Health& before, const Health& after, Lines& lines) {
  const auto call = [](const Health& health) {
    return health.busy ? printable(describe(health.busy->operation)) : std::string{};
  };
  const bool was_stuck = before.busy && before.busy->stuck;
  if (call(after) != call(before))
    lines.push_back("executor: " + (after.busy ? call(after) : call(before) + " has ended"));
  if (after.busy && after.busy->stuck && !was_stuck)
    lines.push_back("executor: " + call(after) + " has not been answered");
}

}  // namespace

std::vector<std::string> changes(const Health* before, const Health& after) {
  Lines lines;
  const std::string is = to_string(after.state);
  const std::string summary = word(after.summary);
  if (before == nullptr)
    lines.push_back("state: " + is + ": " + summary);
  else if (before->state != after.state)
    lines.push_back("state: " + std::string{to_string(before->state)} + " -> " + is + ": " +
                    summary);
  else if (before->summary != after.summary)
    lines.push_back("state: still " + is + ": " + summary);
  const Health nothing;
  const Health& old = before != nullptr ? *before : nothing;
  adapter_changes(old, after, lines);
  finding_changes(old, after, lines);
  executor_changes(old, after, lines);
  return lines;
}

}  // namespace pvrdma::ctl
