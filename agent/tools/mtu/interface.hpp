// SPDX-License-Identifier: GPL-2.0-or-later
// The interface that an MTU is measured from: of the adapter that was named, or found afterwards.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::ctl::pmtu {

// Of the PVRDMA adapter with this PCI address, RDMA device or interface, by sysfs. Errors: there is
// no such adapter, or it has no interface (without errno); it could not be read.
[[nodiscard]] Result<std::string> interface_of_adapter(const Root& root, const std::string& name);

// The name of the interface that holds a connected socket's own address, if its MTU is `mtu` bytes,
// as the one sent by is known to have: Linux lets an address stand on another interface than
// packets leave by, and no name is better than a wrong one. Empty: none.
[[nodiscard]] std::string interface_of(int fd, unsigned mtu);

}  // namespace pvrdma::ctl::pmtu
