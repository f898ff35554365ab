// SPDX-License-Identifier: GPL-2.0-or-later
// `export`: what the agent knows, for container engines, Kubernetes and vSphere.
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/follower.hpp"

namespace pvrdma::ctl {

enum class ExportFormat { Cdi, NodeFeatures, Guestinfo };

struct ExportOptions {
  ExportFormat format = ExportFormat::Cdi;
  std::string output;    // empty or "-": standard output
  bool watch = false;    // keeps `output`, or the published variable, up to date
  bool publish = false;  // only for Guestinfo: hands the verdict to the host
  Pace pace = {};
  // An unchanged verdict is published again after this time: the host sees that we live.
  Milliseconds heartbeat = std::chrono::minutes{10};
  Milliseconds tool_within = std::chrono::seconds{5};  // limit for each program of open-vm-tools
  Root root;                                           // of the kernel's view of the adapters
};

// 0: written; the file of devices is removed where there are no devices. 3: not written, or the
// agent gave no answer or has not looked yet. With `watch`, files stay as they are while the agent
// does not answer, and a host that refuses is asked again after `pace.refresh`.
int print_export(const Settings& settings, const Console& console, const ExportOptions& options);

}  // namespace pvrdma::ctl
