// SPDX-License-Identifier: GPL-2.0-or-later
// What `mtu` found, as lines for an administrator and as JSON. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/tools/mtu/measurement.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;
using pmtu::Measurements;

// A line for each host whose MTU was found; where large packets vanish, the places to look at; for
// several hosts a line with the minimum; with an expectation (`expect` bytes, 0: none) a last one
// that says whether it is met. Empty where nothing was found and nothing expected.
[[nodiscard]] std::string render_mtu(const Measurements& all, unsigned expect = 0);
// A line, without its end, for each host whose MTU was not found; hosts with the same trouble share
// one.
[[nodiscard]] std::vector<std::string> mtu_complaints(const Measurements& all);
// The progress, for a line that is rewritten all the time.
[[nodiscard]] std::string mtu_progress(const Measurements& all);
// {"version": 1, "hosts": […], "minimum_mtu_bytes": 1500, "expected_bytes": 9000, "carried": "no"}:
// every host, found or not. What is not known, or not expected, is null.
[[nodiscard]] Json mtu_json(const Measurements& all, unsigned expect = 0);

}  // namespace pvrdma::ctl
