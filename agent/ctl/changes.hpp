// What differs between two health objects, one line each: for `watch`. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/model/health.hpp"

namespace pvrdma::ctl {

// "state: converging -> ready: 1 of 1 adapters ready", "0000:13:00.1 port: DOWN -> ACTIVE",
// "finding driver-in-use (warning): …", "finding driver-in-use: gone". `before` may be null: then
// everything is new. Empty where nothing changed but ages.
[[nodiscard]] std::vector<std::string> changes(const Health* before, const Health& after);

}  // namespace pvrdma::ctl
