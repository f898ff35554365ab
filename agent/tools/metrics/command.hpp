// SPDX-License-Identifier: GPL-2.0-or-later
// `metrics`: what the agent knows, for Prometheus.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/keeping.hpp"
#include "agent/tools/metrics/boot_steps.hpp"

namespace pvrdma::ctl {

struct MetricsOptions {
  std::string output;  // empty or "-": standard output
  bool watch = false;  // writes `output` anew on each change and after each `pace.refresh`
  Pace pace = {};
  metrics::BootReader read_boot = {};
  bool serve = false;  // answers io.systemd.Metrics instead (report_service.hpp)
};
// 0: it was written, also where the agent gave no answer, which is what it says then; 3: it was
// not.
int print_metrics(const Settings& settings, const Console& console, const MetricsOptions& options);

}  // namespace pvrdma::ctl
