// The configuration as the agent and its executor understand it: values, and which files they are
// from. Never a file's text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/config.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// An Error is the line that --check-config prints.
[[nodiscard]] Result<Json> configuration_part(const Root& root);

// Under the names that pvrdma-agent.toml(5) has; durations in milliseconds, null for no value.
[[nodiscard]] Json to_json(const Config& config);

}  // namespace pvrdma::ctl
