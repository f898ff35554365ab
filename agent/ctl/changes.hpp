// What differs between two health objects, one line each: for `watch`. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pvrdma::ctl {

using Json = nlohmann::json;

// "state: converging -> ready: 1 of 1 adapters ready", "0000:13:00.1 port: DOWN -> ACTIVE",
// "finding driver-in-use (warning): …", "finding driver-in-use: gone". `before` may be null: then
// everything is new. Empty where nothing changed but ages.
[[nodiscard]] std::vector<std::string> changes(const Json& before, const Json& after);

}  // namespace pvrdma::ctl
