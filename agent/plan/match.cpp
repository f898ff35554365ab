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

bool link_is_ours(const Config& config, const Adapter& adapter) {
  const AdapterConfig* entry = config_of(config, adapter);
  return entry == nullptr || entry->manage != Manage::Observe;
}

}  // namespace pvrdma
