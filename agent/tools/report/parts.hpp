// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a report that take more than a look-up.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// The configuration as the agent and its executor understand it: values under the names that
// pvrdma-agent.toml(5) has, and which files they are from. Never a file's text. Durations are in
// milliseconds; null: no value. An Error is the line that --check-config prints.
[[nodiscard]] Result<Json> configuration_part(const Root& root);

// What a command of pvrdma-agentctl's answers with --json. It runs as a process of its own with
// bounds, so that one that hangs, in the kernel as well, costs its time and no other part. Its
// output must hold one JSON object, which begins and ends on lines of their own as dumped() has it;
// other lines, such as complaints, are passed over. An Error says how it ended, and its first
// complaint.
[[nodiscard]] Result<Json> run_part(const std::vector<std::string>& words, Milliseconds limit);

}  // namespace pvrdma::ctl
