// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps a file or another output up to date with the agent's health.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/connection.hpp"

namespace pvrdma::ctl {

struct Pace {
  // Without a change the output is renewed after this time.
  Milliseconds refresh = std::chrono::minutes{1};
  // Changes within this time after a first change are combined.
  Milliseconds burst = std::chrono::seconds{1};
  std::optional<unsigned> times = std::nullopt;  // none: until a signal ends the process
};

// Calls `act` with the latest health, or why there is none: at once, after each change, and after
// each `refresh`. Returns the first result of `act` that is not 0. After each call it sends READY=1
// and WATCHDOG=1 to the service manager.
int keep_up(const Settings& settings, const Pace& pace,
            const std::function<int(const HealthResult&)>& act);

// replace_file(), but fails where the path exists and is no regular file, such as a device.
[[nodiscard]] Result<void> replace_regular_file(const std::string& path, const std::string& text);
// Removes a regular file. Fails for anything else, links included; a missing file is no error.
[[nodiscard]] Result<void> remove_regular_file(const std::string& path);

}  // namespace pvrdma::ctl
