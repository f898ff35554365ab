// `metrics`: what the agent knows, for Prometheus.
#pragma once

#include <optional>
#include <string>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MetricsOptions {
  std::string output;  // empty or "-": standard output
  // Writes `output` anew on each change and after each `refresh`, until a signal ends the process.
  bool watch = false;
  Milliseconds refresh = std::chrono::minutes{1};
  // What changes meanwhile goes into one text.
  Milliseconds burst = std::chrono::seconds{1};
  std::optional<Milliseconds> limit = std::nullopt;  // of watching; none: no end
};

// 0: it was written, also where the agent gave no answer, which is what it says then; 3: it was
// not.
int print_metrics(const Settings& settings, const Console& console, const MetricsOptions& options);

}  // namespace pvrdma::ctl
