// SPDX-License-Identifier: GPL-2.0-or-later
// Where each distribution has vmw_pvrdma for a kernel that is installed without it. Pure.
#pragma once

#include <vector>

#include "agent/model/health.hpp"
#include "agent/tools/survey/machine.hpp"

namespace pvrdma {

// Gives each finding DriverNotShipped the remedy and the commands of the distribution `os`. It
// stays as it is where the catalogue has none for `os`.
void name_driver_package(const OsRelease& os, std::vector<Finding>& findings);

}  // namespace pvrdma
