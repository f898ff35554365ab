// `selftest`: whether messages pass through a device.
#pragma once

#include <optional>
#include <string>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct SelftestOptions {
  std::optional<std::string> device;  // as selftest::find_targets takes it; none: every adapter
  Milliseconds timeout = std::chrono::seconds{10};  // for each device
  std::string program;                              // the helper's path
  Root root;
};

// 0: every device passed; 2: one did not; 3: nothing was tested.
int self_test(const Settings& settings, const Console& console, const SelftestOptions& options);

}  // namespace pvrdma::ctl
