// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_properties.hpp"

#include "agent/base/text.hpp"
#include "agent/tools/survey/host_paste.hpp"

namespace pvrdma {

namespace {

std::optional<unsigned> number(const PastedTable& table, std::size_t row, std::string_view key) {
  return number_from<unsigned>(table.cell(row, key));
}

std::optional<bool> flag(const PastedTable& table, std::size_t row, std::string_view key) {
  const auto value = number(table, row, key);
  return value && *value < 2 ? std::optional{*value == 1} : std::nullopt;
}

// The node of "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/2101234_0/properties"; without this
// command, of the two numbers in the properties.
std::string node_of(const PastedTable& table, std::size_t row) {
  constexpr std::string_view kFolder = "pvrdmaDevices/";
  if (has_part(table.command, kFolder)) return word_after(table.command, kFolder);
  const auto world = number(table, row, "VMM leader ID of VM");
  const auto index = number(table, row, "adapter index");
  return world && index ? std::to_string(*world) + "_" + std::to_string(*index) : "";
}

}  // namespace

AdapterProperties adapter_properties(const PastedTable& table, std::size_t row) {
  AdapterProperties one;
  one.line = table.lines[row];
  one.node = node_of(table, row);
  one.host = table.host;
  one.mac = lower(table.cell(row, "MAC address"));
  one.index = number(table, row, "adapter index");
  one.physical_hca = flag(table, row, "Physical HCA available");
  one.namespace_allocated = flag(table, row, "Namespace allocated");
  one.native_endpoints = flag(table, row, "Native endpoints supported");
  one.native_vmotion = flag(table, row, "Native vmotion supported");
  one.prefers_roce_v1 = flag(table, row, "Prefer RoCE v1 over v2");
  one.roce_version = number(table, row, "RoCE version");
  one.active_mtu = number(table, row, "Active MTU");
  return one;
}

std::vector<AdapterProperties> adapter_properties(std::string_view text) {
  std::vector<AdapterProperties> found;
  const Paste paste = parse_paste(text);
  for (const PastedTable& table : paste.tables) {
    if (!table.has({"Physical HCA available"})) continue;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      found.push_back(adapter_properties(table, row));
  }
  return found;
}

}  // namespace pvrdma
