// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/questions.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <variant>

#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"

namespace pvrdma {

namespace {

bool is_usable(const LinkAddress& address) {
  return !address.tentative && !address.duplicate && !is_link_local(address.text);
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

std::vector<std::string> predecessors(const Config& config) {
  std::vector<std::string> names{kNetModule};
  names.insert(names.end(), config.modules.before.begin(), config.modules.before.end());
  return names;
}

bool is_required(const Config& config, const std::string& module) {
  return drives_adapters(module) || contains(config.modules.required, module);
}

bool is_live(const Snapshot& snapshot, const std::string& module) {
  const Module* found = snapshot.module(module);
  return found != nullptr && is_live(*found);
}

bool probes_functions(const Operation& operation) {
  if (const auto* load = std::get_if<LoadModule>(&operation)) return drives_adapters(load->module);
  return !std::holds_alternative<ConfigureLink>(operation);
}

bool is_decisive(std::string_view field) {
  constexpr std::array<std::string_view, 8> kDecisive{"driver",      "net_driver", "netdev",
                                                      "rdma_device", "carrier",    "owner",
                                                      "port.state",  "rdma_netdev"};
  return contains(kDecisive, field);
}

std::vector<Error> unreadable_parts(const Adapter& adapter) {
  // While a driver releases a function, the kernel no longer lists the RDMA device, and no rule
  // asks for the netdev of that device.
  const bool leaves = adapter.driver.is_absent() && adapter.rdma_device.is_known();
  std::vector<Error> errors;
  for (auto& [name, error] : unreadable_of(adapter))
    if (is_decisive(name) && !(leaves && name == "rdma_netdev")) errors.push_back(std::move(error));
  return errors;
}

const AdapterConfig& config_of(const Config& config, const Adapter& adapter) {
  static const AdapterConfig observed{{}, Manage::Observe, {}, {}};
  return *find_config(config, names_of(adapter)).value_or(&observed);
}

bool is_unbound(const Adapter& adapter) {
  return adapter.driver.is_absent() && adapter.rdma_device.is_absent();
}

const LinkOwner* other_owner(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  const LinkOwner* owner = netdev != nullptr ? netdev->owner.get() : nullptr;
  return owner != nullptr && owner->decided ? owner : nullptr;
}

bool link_is_ours(const Config& config, const Adapter& adapter) {
  const Manage manage = config_of(config, adapter).manage;
  if (manage != Manage::Auto) return manage == Manage::Agent;
  const Netdev* netdev = adapter.netdev.get();
  const bool known = netdev == nullptr || !netdev->owner.is_unreadable();
  return known && other_owner(adapter) == nullptr;
}

std::optional<std::vector<Holder>> holders_of(const Snapshot& snapshot, const Adapter& adapter) {
  const auto* holders = snapshot.holders.get();
  if (holders == nullptr || adapter.rdma_device.is_unreadable()) return std::vector<Holder>{};
  const RdmaDevice* device = adapter.rdma_device.get();
  std::vector<Holder> own;
  std::copy_if(holders->begin(), holders->end(), std::back_inserter(own),
               [&](const Holder& holder) {
                 return holder.rdma_device.empty() ||
                        (device != nullptr && holder.rdma_device == device->name);
               });
  if (!own.empty()) return own;
  // Only the refcount shows holders of a device that is not visible, and processes that cannot be
  // named.
  const Module* driver = snapshot.module(kDriverModule);
  const bool is_counted =
      driver != nullptr && (driver->refcount.is_unreadable() || driver->refcount.value_or(0) != 0);
  if (is_counted && (holders->empty() || device == nullptr)) return own;
  return std::nullopt;
}

std::string managed_by(const Config& config, const Adapter& adapter) {
  if (link_is_ours(config, adapter)) return "agent";
  const LinkOwner* owner = other_owner(adapter);
  return owner != nullptr ? to_string(owner->manager) : "nobody";
}

std::string application_address(const Config& config, const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  if (netdev == nullptr) return {};
  std::vector<std::string> usable;
  for (const LinkAddress& address : netdev->addresses)
    if (is_usable(address)) usable.push_back(address.text);
  std::stable_partition(usable.begin(), usable.end(),
                        [](const std::string& address) { return !is_ipv6(address); });
  for (const std::string& address : config_of(config, adapter).addresses)
    if (contains(usable, address)) return without_prefix(address);
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
