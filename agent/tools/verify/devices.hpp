// SPDX-License-Identifier: GPL-2.0-or-later
// The devices for `selftest` and `verify`, and the GID of each. Reads sysfs; opens no device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::verify {

struct Target {
  std::string function;  // PCI address of an adapter; empty for another RDMA device
  std::string device;    // empty: the adapter has no RDMA device
  std::vector<Gid> gids;
};

// `wanted`: the RDMA device, PCI address or netdev of an adapter, or any other RDMA device; none:
// every adapter. An Error: there is no such device, or no adapter.
[[nodiscard]] Result<std::vector<Target>> find_targets(const Root& root,
                                                       const std::optional<std::string>& wanted);

// The IPv4 address that the GID stands for; empty: the GID stands for an IPv6 address.
[[nodiscard]] std::string ipv4_of(const Gid& gid);

// Whether the GID stands for a link-local address.
[[nodiscard]] bool holds_on_its_link_alone(const Gid& gid);

// The GID to use: one of an IPv4 address before one of IPv6, link-local ones last; of these one of
// RoCE v2; of these the lowest index. Null: there is none.
[[nodiscard]] const Gid* choose_gid(const std::vector<Gid>& gids);

}  // namespace pvrdma::verify
