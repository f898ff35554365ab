// SPDX-License-Identifier: GPL-2.0-or-later
// `export`: what the agent knows, for container engines, Kubernetes and vSphere.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/keeping.hpp"

namespace pvrdma::ctl {

enum class ExportFormat { Cdi, NodeFeatures, Guestinfo };

struct ExportOptions {
  ExportFormat format = ExportFormat::Cdi;
  std::string output;    // empty or "-": standard output
  bool watch = false;    // keeps `output`, or what is published, up to date
  bool publish = false;  // Guestinfo: hands it to the host
  Pace pace = {};
  // What has not changed is published anew after this time: the host sees that we live.
  Milliseconds heartbeat = std::chrono::minutes{10};
  Milliseconds tool_within = std::chrono::seconds{5};  // each of open-vm-tools' programs
};

// 0: it was written; the file of devices is removed where there are none. 3: it was not, or the
// agent gave no answer, or has not looked yet. With `watch` such an agent leaves files as they are,
// and a host that refuses is asked again after `pace.refresh`.
int print_export(const Settings& settings, const Console& console, const ExportOptions& options);

}  // namespace pvrdma::ctl
