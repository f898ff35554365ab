// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/snapshot.hpp"

#include <algorithm>
#include <string_view>

#include "agent/model/fields.hpp"

namespace pvrdma {

const LinkAddress* find_address(const std::vector<LinkAddress>& addresses,
                                const std::string& text) {
  const auto found = std::find_if(addresses.begin(), addresses.end(),
                                  [&](const LinkAddress& one) { return one.text == text; });
  return found == addresses.end() ? nullptr : &*found;
}

const Module* SystemState::module(const std::string& name) const {
  const auto found = std::find_if(modules.begin(), modules.end(),
                                  [&](const Module& module) { return module.name == name; });
  return found == modules.end() ? nullptr : &*found;
}

const Adapter* SystemState::adapter(const std::string& function) const {
  if (!adapters.is_known()) return nullptr;
  const auto& list = *adapters.get();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Adapter& adapter) {
    return adapter.function == function;
  });
  return found == list.end() ? nullptr : &*found;
}

const std::string& lasting_mac(const Netdev& netdev) {
  return netdev.permanent_mac.empty() ? netdev.mac : netdev.permanent_mac;
}

std::string describe(const Holder& holder) {
  if (holder.pid == 0)
    return holder.command.empty() ? "a process that is not visible from here" : holder.command;
  return (holder.command.empty() ? "a process" : holder.command) + " (PID " +
         std::to_string(holder.pid) + ")";
}

const BootScript* unfinished(const std::vector<BootScript>& scripts) {
  const auto found = std::find_if(scripts.begin(), scripts.end(),
                                  [](const BootScript& script) { return !script.ended; });
  return found == scripts.end() ? nullptr : &*found;
}

std::string interface_name(std::string_view path) {
  constexpr std::string_view kNetdev = "netdev.", kRdma = "rdma_device.";
  if (path == "rdma_device.netdev") return "rdma_netdev";
  for (const std::string_view part : {kNetdev, kRdma})
    if (path.starts_with(part)) path.remove_prefix(part.size());
  return std::string{path};
}

std::vector<std::pair<std::string, Error>> unreadable_of(const Adapter& adapter) {
  std::vector<std::pair<std::string, Error>> unreadable;
  each_field(adapter, [&](const FieldPath& path, const auto& field) {
    if (const Error* error = field.error())
      unreadable.emplace_back(interface_name(path.text()), *error);
  });
  return unreadable;
}

}  // namespace pvrdma
