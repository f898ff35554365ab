// SPDX-License-Identifier: GPL-2.0-or-later
// Time spans in the form of systemd.time(7): "90s", "2min", "1min 30s", "1500ms", "1h".
#pragma once

#include <optional>
#include <string_view>

#include "agent/base/clock.hpp"

namespace pvrdma {

// The sum of one or more whole numbers with a unit (ms, s, sec, min, m, h, hr); a number without
// unit is in seconds. None: the text has another form, or is more than a year.
[[nodiscard]] std::optional<Milliseconds> parse_duration(std::string_view text);

// The range of this program's time limits, in the configuration and on the command line.
inline constexpr Milliseconds kTimeoutMin = std::chrono::seconds{1};
inline constexpr Milliseconds kTimeoutMax = std::chrono::hours{1};
inline constexpr const char* kTimeoutRule =
    "must be a time from 1s to 1h, such as \"90s\", \"2min\" or \"1500ms\"";

// The range of any other time span: all that parse_duration() accepts.
inline constexpr const char* kDurationRule =
    "must be a time from 0s to 8784h, such as \"30min\" or \"1h\"";

// parse_duration() within these limits.
[[nodiscard]] std::optional<Milliseconds> parse_timeout(std::string_view text);

}  // namespace pvrdma
