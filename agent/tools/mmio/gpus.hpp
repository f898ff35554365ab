// SPDX-License-Identifier: GPL-2.0-or-later
// Passed-through GPUs on the PCI bus, and how much memory each maps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/file.hpp"

namespace pvrdma::probes {

struct Gpu {
  std::string function;     // "0000:0b:00.0"
  std::uint64_t bar_bytes;  // largest prefetchable memory BAR; 0: there is none, or it got no room
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

// Display controllers other than the hypervisor's own, sorted by address, from `modalias` and
// `resource` (Documentation/ABI/testing/sysfs-bus-pci). Errors: the bus or a function could not be
// read.
[[nodiscard]] Result<std::vector<Gpu>> find_gpus(const Root& root);

}  // namespace pvrdma::probes
