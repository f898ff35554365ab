// The rows of `doctor` that have a line for each adapter.
#pragma once

#include <string>

#include "agent/tools/doctor/checks.hpp"

namespace pvrdma::doctor {

// "0000:13:00.1 (vmw_pvrdma) with 0000:13:00.0 (vmxnet3, ens224f0)"
[[nodiscard]] std::string pair_line(const Adapter& adapter);
// "uverbs0 (0666, open to this user)"
[[nodiscard]] std::string node_line(const DeviceNode& node);

[[nodiscard]] Check links(const Snapshot& snapshot);
[[nodiscard]] Check ports(const Snapshot& snapshot);
[[nodiscard]] Check gids(const Config& config, const Snapshot& snapshot);

}  // namespace pvrdma::doctor
