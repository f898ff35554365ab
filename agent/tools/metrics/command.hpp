// SPDX-License-Identifier: GPL-2.0-or-later
// `metrics`: the agent's health for Prometheus.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/follower.hpp"
#include "agent/tools/metrics/boot_steps.hpp"

namespace pvrdma::ctl {

struct MetricsOptions {
  std::string output;  // empty or "-": standard output
  bool watch = false;  // writes `output` anew on each change and after each `pace.refresh`
  Pace pace = {};
  metrics::BootReader read_boot = {};
  bool serve = false;  // answers io.systemd.Metrics instead of writing (report_service.hpp)
};
// 0: written; where the agent gave no answer, the metrics say so. 3: not written.
int print_metrics(const Settings& settings, const Console& console, const MetricsOptions& options);

}  // namespace pvrdma::ctl
