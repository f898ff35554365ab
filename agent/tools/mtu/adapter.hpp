// Which interface `mtu --adapter` measures from. Reads sysfs.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::ctl::pmtu {

// Of the PVRDMA adapter with this PCI address, RDMA device or interface. Errors: there is no such
// adapter, or it has no interface (without errno); it could not be read.
[[nodiscard]] Result<std::string> interface_of_adapter(const Root& root, const std::string& name);

}  // namespace pvrdma::ctl::pmtu
