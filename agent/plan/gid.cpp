// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/gid.hpp"

#include <algorithm>
#include <vector>

#include "agent/model/address.hpp"
#include "agent/plan/questions.hpp"

namespace pvrdma {

namespace {

bool is_usable(const LinkAddress& address) {
  return !address.tentative && !address.duplicate && !is_link_local(address.text);
}

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

// The driver derives the GID from the address in the same way (rdma_ip2gid()).
std::string gid_of(const std::string& address) {
  return is_ipv6(address) ? address : "::ffff:" + address;
}

bool type_fits(GidType wanted, const Gid& gid) {
  switch (wanted) {
    case GidType::RoceV1:
      return gid.type.is(kRoceV1);
    case GidType::RoceV2:
      return gid.type.is(kRoceV2);
    case GidType::Best:
      break;
  }
  return gid.type.is_known();
}

}  // namespace

std::string application_address(const Config& config, const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  if (netdev == nullptr) return {};
  std::vector<std::string> usable;
  for (const LinkAddress& address : netdev->addresses)
    if (is_usable(address)) usable.push_back(address.text);
  std::stable_partition(usable.begin(), usable.end(),
                        [](const std::string& address) { return !is_ipv6(address); });
  for (const std::string& address : config_of(config, adapter).addresses)
    if (std::find(usable.begin(), usable.end(), address) != usable.end())
      return without_prefix(address);
  return usable.empty() ? std::string{} : without_prefix(usable.front());
}

std::optional<ApplicationGid> application_gid(const Config& config, const Adapter& adapter) {
  const std::string address = application_address(config, adapter);
  const RdmaDevice* rdma = adapter.rdma_device.get();
  if (address.empty() || rdma == nullptr) return std::nullopt;
  const GidType type = config_of(config, adapter).gid_type;
  const std::string text = gid_of(address);
  const Gid* best = nullptr;
  for (const Gid& gid : rdma->gids) {
    if (gid.gid != text || !type_fits(type, gid)) continue;
    const bool better = best == nullptr || (gid.type.is(kRoceV2) && !best->type.is(kRoceV2)) ||
                        (gid.type == best->type && gid.index < best->index);
    if (better) best = &gid;
  }
  if (best == nullptr) return std::nullopt;
  return ApplicationGid{address, best->gid, best->index, *best->type.get()};
}

unsigned moved_gids(const RdmaDevice& before, const RdmaDevice& now) {
  const auto has_moved = [&](const Gid& gid) {
    bool is_there = false;
    for (const Gid& later : now.gids) {
      if (later.gid != gid.gid || later.type != gid.type) continue;
      if (later.index == gid.index) return false;
      is_there = true;
    }
    return is_there;
  };
  return static_cast<unsigned>(std::count_if(before.gids.begin(), before.gids.end(), has_moved));
}

}  // namespace pvrdma
