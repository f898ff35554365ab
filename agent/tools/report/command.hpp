// SPDX-License-Identifier: GPL-2.0-or-later
// `report`: one document with everything, for a support case.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct ReportOptions {
  bool redact = false;     // an old option; it is refused, with a hint to its replacement
  bool recording = false;  // writes only the recording, as tests/replay reads it
  std::string output;      // a new file; empty or "-": standard output
  Root root;
  std::string agentctl = "/proc/self/exe";  // the program whose answers are collected
  Milliseconds part_limit = std::chrono::seconds{20};
  Milliseconds recording_limit = std::chrono::seconds{5};
  Milliseconds limit = std::chrono::seconds{60};  // for all parts together
};

// 0: the report was written, even where parts are missing; 3: it was not.
int report(const Settings& settings, const Console& console, const ReportOptions& options);

// Parts of a report that need more than one look-up.

using Json = nlohmann::json;

// The configuration as the agent and its executor understand it: values under the names of
// pvrdma-agent.toml(5), and the files they come from; never a file's text. Durations are in
// milliseconds; a value that is not set is left out. An Error has the line that --check-config
// prints.
[[nodiscard]] Result<Json> configuration_part(const Root& root);

// The answer of a pvrdma-agentctl command with --json. The command runs as a process of its own
// with limits: one that hangs, even in the kernel, costs its own time and no other part. Its output
// must hold one JSON object that begins and ends on lines of their own, as dumped() prints it;
// other lines, such as complaints, are ignored. An Error says how the command ended, with its first
// complaint.
[[nodiscard]] Result<Json> run_part(const std::vector<std::string>& words, Milliseconds limit);

}  // namespace pvrdma::ctl
