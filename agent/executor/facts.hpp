// SPDX-License-Identifier: GPL-2.0-or-later
// A look at the system for the guard.
#pragma once

#include <string>

#include "agent/base/rooted_path.hpp"
#include "agent/executor/guard.hpp"

namespace pvrdma::executor {

// Reads /sys, /proc and nldev; sends no command to a device. Facts that cannot be read are
// unreadable Fields. Of an adapter only `pci` is read, but everything for the adapter of function
// `link_of`: only ConfigureLink needs the rest, and `owner` may need a call over the system bus.
[[nodiscard]] Facts look(const Root& root, const std::string& link_of = {});

}  // namespace pvrdma::executor
