// SPDX-License-Identifier: GPL-2.0-or-later
// The GID that applications have to use: an adapter is usable when their address has a GID.
#pragma once

#include <optional>
#include <string>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// Names from drivers/infiniband/core/cache.c, gid_type_str[].
inline constexpr const char* kRoceV1 = "IB/RoCE v1";
inline constexpr const char* kRoceV2 = "RoCE v2";

// The address that applications use, without its prefix: the first configured one that is on the
// link, else the first IPv4 address, else the first IPv6 address. Addresses that are link-local,
// still tentative, or a duplicate are ignored. Empty: there is none.
[[nodiscard]] std::string application_address(const Config& config, const Adapter& adapter);

// The GID of application_address(), of the configured type; of several equal ones that with the
// lowest index. None: there is no such address, or no such GID (yet).
[[nodiscard]] std::optional<ApplicationGid> application_gid(const Config& config,
                                                            const Adapter& adapter);

// How many of the GIDs that both looks saw have a different index in the later look.
[[nodiscard]] unsigned moved_gids(const RdmaDevice& before, const RdmaDevice& now);

}  // namespace pvrdma
