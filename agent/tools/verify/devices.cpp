// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/devices.hpp"

#include <algorithm>
#include <tuple>

#include "agent/base/text.hpp"
#include "agent/model/identifiers.hpp"
#include "probes/pci.hpp"
#include "probes/rdma.hpp"

namespace pvrdma::verify {

namespace {

constexpr const char* kDevices = "/sys/class/infiniband";

bool exists(const Root& root, const std::string& device) {
  const auto names = list_directory(root / kDevices);
  return names && contains(*names, device);
}

}  // namespace

Result<std::vector<Target>> find_targets(const Root& root,
                                         const std::optional<std::string>& wanted) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  std::vector<Target> targets;
  for (const probes::PciAdapter& adapter : *adapters)
    if (!wanted || probes::is_called(adapter, *wanted))
      targets.push_back({adapter.function, adapter.rdma_device.value_or(""), {}});
  // An RDMA device that belongs to no PVRDMA adapter can be tested as well.
  if (targets.empty() && wanted && exists(root, *wanted)) targets.push_back({"", *wanted, {}});
  for (Target& target : targets)
    if (!target.device.empty()) target.gids = probes::read_gid_table(root, target.device);
  if (!targets.empty()) return targets;
  return wanted ? fail(0, "there is no adapter or RDMA device", *wanted)
                : fail(0, "there is no PVRDMA adapter", "");
}

std::string ipv4_of(const Gid& gid) {
  constexpr std::string_view kMapped = "::ffff:";
  return gid.gid.starts_with(kMapped) ? gid.gid.substr(kMapped.size()) : std::string{};
}

bool holds_on_its_link_alone(const Gid& gid) {
  const std::string ipv4 = ipv4_of(gid);
  return is_link_local(ipv4.empty() ? gid.gid : ipv4);
}

const Gid* choose_gid(const std::vector<Gid>& gids) {
  const auto rank = [](const Gid& gid) {
    return std::tuple{holds_on_its_link_alone(gid), ipv4_of(gid).empty(), !gid.type.is(kRoceV2),
                      gid.index};
  };
  const auto best =
      std::min_element(gids.begin(), gids.end(),
                       [&](const Gid& left, const Gid& right) { return rank(left) < rank(right); });
  return best == gids.end() ? nullptr : &*best;
}

}  // namespace pvrdma::verify
