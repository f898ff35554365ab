// SPDX-License-Identifier: GPL-2.0-or-later
// What two ESXi hosts say of a pair of adapters, for --host-properties.
#pragma once

#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/tools/survey/host_properties.hpp"
#include "agent/tools/verify/peer/path.hpp"

namespace pvrdma::verify {

// The adapters in a pasted file, or in standard input for "-". ENODATA: it has none.
[[nodiscard]] Result<std::vector<AdapterProperties>> read_host_properties(const std::string& path);

// What the properties say of the adapters with these two MAC addresses; an empty address is not
// known. Pure.
[[nodiscard]] Hosts hosts_of(const std::vector<AdapterProperties>& properties,
                             const std::string& own_mac, const std::string& peer_mac);

}  // namespace pvrdma::verify
