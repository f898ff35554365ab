// The JSON of a finding as `doctor` has it: that of io.pvrdma.Agent, and the lines to copy that its
// entry of the catalogue has.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/model/health.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// `commands`: a line each, with the finding's values in place of names; empty where there are none.
[[nodiscard]] Json with_commands(const Finding& finding);

}  // namespace pvrdma::ctl
