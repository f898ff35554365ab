// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/host_properties.hpp"

#include "agent/base/text.hpp"
#include "agent/tools/survey/host_paste.hpp"

namespace pvrdma {

namespace {

std::optional<unsigned> number(const PastedDetails& details, std::string_view key) {
  const std::string* value = details.value(key);
  return value == nullptr ? std::nullopt : number_from<unsigned>(*value);
}

std::optional<bool> flag(const PastedDetails& details, std::string_view key) {
  const auto value = number(details, key);
  return value && *value < 2 ? std::optional{*value == 1} : std::nullopt;
}

// The node of "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/2101234_0/properties"; without this
// command, of the two numbers in the properties.
std::string node_of(const PastedDetails& details) {
  constexpr std::string_view kFolder = "pvrdmaDevices/";
  if (const std::size_t at = details.command.find(kFolder); at != std::string::npos) {
    const std::size_t begin = at + kFolder.size();
    return details.command.substr(begin, details.command.find_first_of(" /\"", begin) - begin);
  }
  const auto world = number(details, "VMM leader ID of VM");
  const auto index = number(details, "adapter index");
  return world && index ? std::to_string(*world) + "_" + std::to_string(*index) : "";
}

}  // namespace

std::vector<AdapterProperties> adapter_properties(std::string_view text) {
  std::vector<AdapterProperties> found;
  for (const PastedDetails& details : parse_paste(text).details) {
    if (details.value("Physical HCA available") == nullptr) continue;
    AdapterProperties& one = found.emplace_back();
    one.line = details.place.line;
    one.node = node_of(details);
    one.host = details.host;
    if (const std::string* mac = details.value("MAC address")) one.mac = lower(*mac);
    one.index = number(details, "adapter index");
    one.physical_hca = flag(details, "Physical HCA available");
    one.namespace_allocated = flag(details, "Namespace allocated");
    one.native_endpoints = flag(details, "Native endpoints supported");
    one.native_vmotion = flag(details, "Native vmotion supported");
    one.prefers_roce_v1 = flag(details, "Prefer RoCE v1 over v2");
    one.roce_version = number(details, "RoCE version");
    one.active_mtu = number(details, "Active MTU");
  }
  return found;
}

}  // namespace pvrdma
