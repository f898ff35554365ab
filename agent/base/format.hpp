// SPDX-License-Identifier: GPL-2.0-or-later
// Text put together by a format that is checked while it is compiled. fmt's own code is compiled
// into one file, format.cpp: linking libfmt would bring libstdc++'s library, which costs a daemon
// that rests more memory than all of its own code.
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
