// SPDX-License-Identifier: GPL-2.0-or-later
// What the executor sees for itself before it does anything: the input of its guard.
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/executor/guard.hpp"

namespace pvrdma::executor {

// Reads /sys, /proc and nldev; asks no device anything. What cannot be read is said to be so.
// `owner` is left absent but for the adapter of function `link_of`: only operations on links need
// it, and it may take a question over the system bus.
[[nodiscard]] Facts look(const Root& root, const std::string& link_of = {});

}  // namespace pvrdma::executor
