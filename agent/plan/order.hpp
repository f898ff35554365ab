// The order in which modules were loaded, read back from /proc/modules.
#pragma once

#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// Modules that must precede vmw_pvrdma: vmxnet3, then `modules.before`.
[[nodiscard]] std::vector<std::string> predecessors(const Config& config);

[[nodiscard]] bool is_live(const Snapshot& snapshot, const std::string& module);

// The predecessors that were loaded after vmw_pvrdma. Empty where the order is right or not known.
[[nodiscard]] std::vector<std::string> loaded_too_late(const Config& config,
                                                       const Snapshot& snapshot);

}  // namespace pvrdma
