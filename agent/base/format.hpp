// SPDX-License-Identifier: GPL-2.0-or-later
// Formats text with a format string that the compiler checks. fmt's code is compiled into one file,
// format.cpp. Linking libfmt would load the shared libstdc++, which takes more memory than all of
// the daemon's own code.
#pragma once

#include <fmt/core.h>

#include <string>

namespace pvrdma {

[[nodiscard]] std::string formatted_with(fmt::string_view format, fmt::format_args arguments);

// fmt's syntax (fmt.dev, "Format String Syntax").
template <typename... Args>
[[nodiscard]] std::string formatted(fmt::format_string<Args...> format, const Args&... arguments) {
  return formatted_with(format, fmt::make_format_args(arguments...));
}

}  // namespace pvrdma
