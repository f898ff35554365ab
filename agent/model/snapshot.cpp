// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/snapshot.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/model/fields.hpp"
#include "agent/model/identifiers.hpp"

namespace pvrdma {

const LinkAddress* find_address(const std::vector<LinkAddress>& addresses,
                                const std::string& text) {
  return find_in(addresses, text, &LinkAddress::text);
}

bool has_foreign_twin(const std::vector<LinkAddress>& addresses, const LinkAddress& address) {
  return !is_ipv6(address.text) && std::ranges::any_of(addresses, [&](const LinkAddress& other) {
    return !other.ours && other.text != address.text &&
           without_prefix(other.text) == without_prefix(address.text);
  });
}

const Module* SystemState::module(const std::string& name) const {
  return find_in(modules, name, &Module::name);
}

const Adapter* SystemState::adapter(const std::string& function) const {
  return adapters.is_known() ? find_in(*adapters.get(), function, &Adapter::function) : nullptr;
}

const std::string& lasting_mac(const Netdev& netdev) {
  return netdev.permanent_mac.empty() ? netdev.mac : netdev.permanent_mac;
}

bool has_only_roce_v1(const std::vector<Gid>& gids) {
  return !gids.empty() &&
         std::ranges::all_of(gids, [](const Gid& gid) { return gid.type.is(kRoceV1); });
}

bool is_called(const Adapter& adapter, const std::string& name) {
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma_device.get();
  return adapter.function == name || adapter.net_function == name ||
         (netdev != nullptr && netdev->name == name) || (rdma != nullptr && rdma->name == name);
}

std::string describe(const Holder& holder) {
  if (holder.pid == 0)
    return holder.command.empty() ? "a process that is not visible from here" : holder.command;
  return (holder.command.empty() ? "a process" : holder.command) + " (PID " +
         std::to_string(holder.pid) + ")";
}

std::string describe(const std::vector<Holder>& holders) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(holders.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + describe(holders[i]);
  if (holders.size() > kMost) text += " and " + std::to_string(holders.size() - kMost) + " more";
  return text;
}

const BootScript* unfinished(const std::vector<BootScript>& scripts) {
  return find_in(scripts, false, &BootScript::ended);
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
