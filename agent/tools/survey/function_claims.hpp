// SPDX-License-Identifier: GPL-2.0-or-later
// Finds lines of modprobe.d, and words on the kernel's command line, that give a PCI function of an
// adapter to another driver.
#pragma once

#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/model/field.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma {

// A driver that would take PCI functions of PVRDMA adapters by their ID, once it is loaded.
struct FunctionClaim {
  std::string driver;  // "vfio-pci"
  std::string ids;     // "15ad:07b0, 15ad:0820": of function 0, of function 1
  std::string how;     // "\"options vfio-pci ids=15ad:07b0\" in FILE:LINE"
  friend bool operator==(const FunctionClaim&, const FunctionClaim&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// The passthrough drivers that would take function 0 or 1 of PVRDMA adapters by ID.
[[nodiscard]] Field<std::vector<FunctionClaim>> find_function_claims(
    const ModprobeConfig& config, const Result<std::string>& command_line);

}  // namespace pvrdma::probes
