// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/snapshot.hpp"

#include <algorithm>

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

std::vector<std::pair<std::string, Error>> unreadable_of(const Adapter& adapter) {
  std::vector<std::pair<std::string, Error>> unreadable;
  const auto look = [&](const std::string& name, const auto& field) {
    if (const Error* error = field.error()) unreadable.emplace_back(name, *error);
  };
  look("driver", adapter.driver);
  look("net_driver", adapter.net_driver);
  look("netdev", adapter.netdev);
  if (const Netdev* netdev = adapter.netdev.get()) {
    look("carrier", netdev->carrier);
    look("owner", netdev->owner);
  }
  look("rdma_device", adapter.rdma);
  const RdmaDevice* rdma = adapter.rdma.get();
  if (rdma == nullptr) return unreadable;
  look("uverbs", rdma->uverbs);
  look("node_guid", rdma->node_guid);
  look("rdma_netdev", rdma->netdev);
  look("port.verbs_state", rdma->port.verbs_state);
  look("port.state", rdma->port.state);
  look("port.phys_state", rdma->port.phys_state);
  look("port.active_mtu", rdma->port.active_mtu);
  look("port.link_layer", rdma->port.link_layer);
  for (const Gid& gid : rdma->gids) {
    const std::string path = "gids[" + std::to_string(gid.index) + "].";
    look(path + "type", gid.type);
    look(path + "netdev", gid.netdev);
  }
  return unreadable;
}

}  // namespace pvrdma
