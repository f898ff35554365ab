// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices `selftest` tests, and over which of their GIDs. Reads sysfs; opens no device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::ctl::selftest {

struct Target {
  std::string function;  // PCI address of an adapter; empty for another RDMA device
  std::string device;    // empty: the adapter has none
  std::vector<Gid> gids;
};

// `wanted`: the RDMA device, PCI address or interface of an adapter, or any other RDMA device. None
// wanted: every adapter. An Error where there is no such device, or no adapter.
[[nodiscard]] Result<std::vector<Target>> find_targets(const Root& root,
                                                       const std::optional<std::string>& wanted);

// The IPv4 address that a GID is of; empty: it is of an IPv6 one.
[[nodiscard]] std::string ipv4_of(const Gid& gid);

// The one to use: of an IPv4 address rather than of an IPv6 one, of a link-local one last; RoCE v2
// where there is a choice; then the lowest index. Null: there is none.
[[nodiscard]] const Gid* choose_gid(const std::vector<Gid>& gids);

}  // namespace pvrdma::ctl::selftest
