// SPDX-License-Identifier: GPL-2.0-or-later
// Time spans as people write them: "90s", "2min", "1min 30s", "1500ms", "1h" (systemd.time(7)).
#pragma once

#include <optional>
#include <string_view>

#include "agent/base/clock.hpp"

namespace pvrdma {

// One or more of a whole number with a unit (ms, s, sec, min, m, h, hr), added up; a number alone
// is seconds. None: it is no such text, or more than a year.
[[nodiscard]] std::optional<Milliseconds> parse_duration(std::string_view text);

// What a time limit of this program may be, in the configuration and on the command line.
inline constexpr Milliseconds kTimeoutMin = std::chrono::seconds{1};
inline constexpr Milliseconds kTimeoutMax = std::chrono::hours{1};
inline constexpr const char* kTimeoutRule =
    "must be a time from 1s to 1h, such as \"90s\", \"2min\" or \"1500ms\"";

// What any other time span may be: all that parse_duration() takes.
inline constexpr const char* kDurationRule =
    "must be a time from 0s to 8784h, such as \"30min\" or \"1h\"";

// parse_duration() within these limits.
[[nodiscard]] std::optional<Milliseconds> parse_timeout(std::string_view text);

}  // namespace pvrdma
