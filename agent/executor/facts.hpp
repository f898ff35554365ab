// What the executor sees for itself before it does anything: the input of its guard.
#pragma once

#include "agent/base/file.hpp"
#include "agent/executor/guard.hpp"

namespace pvrdma::executor {

// Reads /sys, /proc and nldev; asks no device anything. What cannot be read is said to be so.
// `owner` of the adapters is left absent.
[[nodiscard]] Facts look(const Root& root);

// Fills in `owner` of that function's adapter: only operations on links ask, and it may take a
// question over the system bus.
void look_at_owner(const Root& root, const std::string& function, Facts& facts);

}  // namespace pvrdma::executor
