// SPDX-License-Identifier: GPL-2.0-or-later
// `report`: one document with everything, for a support case.
#pragma once

#include <string>

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

}  // namespace pvrdma::ctl
