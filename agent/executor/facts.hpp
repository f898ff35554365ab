// What the executor sees for itself before it does anything: the input of its guard.
#pragma once

#include "agent/base/file.hpp"
#include "agent/executor/guard.hpp"

namespace pvrdma::executor {

// Reads /sys, /proc and nldev; asks no device anything. What cannot be read is said to be so.
[[nodiscard]] Facts look(const Root& root);

}  // namespace pvrdma::executor
