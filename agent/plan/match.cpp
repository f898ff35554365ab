#include "agent/plan/match.hpp"

#include <algorithm>

namespace pvrdma {

bool matches(const AdapterMatch& match, const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  if (match.mac) return netdev != nullptr && netdev->mac == *match.mac;
  if (match.netdev) return netdev != nullptr && netdev->name == *match.netdev;
  return match.pci && (*match.pci == adapter.function || *match.pci == adapter.net_function);
}

const AdapterConfig* config_of(const Config& config, const Adapter& adapter) {
  const auto found =
      std::find_if(config.adapters.begin(), config.adapters.end(),
                   [&](const AdapterConfig& entry) { return matches(entry.match, adapter); });
  return found == config.adapters.end() ? nullptr : &*found;
}

const LinkOwner* other_owner(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  const LinkOwner* owner = netdev != nullptr ? netdev->owner.get() : nullptr;
  return owner != nullptr && owner->decided ? owner : nullptr;
}

bool link_is_ours(const Config& config, const Adapter& adapter) {
  const AdapterConfig* entry = config_of(config, adapter);
  const Manage manage = entry != nullptr ? entry->manage : Manage::Auto;
  if (manage != Manage::Auto) return manage == Manage::Agent;
  const Netdev* netdev = adapter.netdev.get();
  const bool known = netdev == nullptr || !netdev->owner.is_unreadable();
  return known && other_owner(adapter) == nullptr;
}

bool is_held(const Snapshot& snapshot, const Adapter& adapter) {
  const RdmaDevice* device = adapter.rdma.get();
  if (device == nullptr) return adapter.rdma.is_unreadable();
  const auto* holders = snapshot.holders.get();
  return holders == nullptr ||
         std::any_of(holders->begin(), holders->end(),
                     [&](const Holder& holder) { return holder.rdma_device == device->name; });
}

std::string managed_by(const Config& config, const Adapter& adapter) {
  if (link_is_ours(config, adapter)) return "agent";
  const LinkOwner* owner = other_owner(adapter);
  return owner != nullptr ? to_string(owner->manager) : "nobody";
}

}  // namespace pvrdma
