// SPDX-License-Identifier: GPL-2.0-or-later
// Keeping something outside up to date with the agent's health, for as long as one likes.
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
  // Without a change, it is done anew after this time.
  Milliseconds refresh = std::chrono::minutes{1};
  // What changes in this time after a first change goes into one.
  Milliseconds burst = std::chrono::seconds{1};
  std::optional<unsigned> times = std::nullopt;  // none: until a signal ends the process
};

// Calls `act` with the latest health, or why there is none: at once, after each change, and after
// each `refresh`. Ends with what `act` returned when that is not 0. The service manager is told
// after each call that it is ready and alive.
int keep_up(const Settings& settings, const Pace& pace, const std::function<int(const News&)>& act);

// replace_file(), but what is there and is no regular file, as a device, is left alone.
[[nodiscard]] Result<void> replace_regular_file(const std::string& path, const std::string& text);
// Of what is there, too, and of links. It need not be there.
[[nodiscard]] Result<void> remove_regular_file(const std::string& path);

}  // namespace pvrdma::ctl
