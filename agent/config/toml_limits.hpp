// SPDX-License-Identifier: GPL-2.0-or-later
// Checks a TOML text before the parser gets it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pvrdma::toml_limits {

// Why a text must not be given to a parser, and the place.
struct Fault {
  std::size_t offset;
  std::string what;  // "is nested too deeply"
};

// The longest line in bytes, without its end.
inline constexpr std::size_t kLongestLine = 4096;

// None: the text is UTF-8 (RFC 3629), has only control characters that TOML allows (tab, line feed,
// and carriage return before a line feed), and no line longer than kLongestLine.
[[nodiscard]] std::optional<Fault> unfit(std::string_view text);

// Limits of TOML text for toml11. It recurses as deep as the text nests arrays, tables and dotted
// keys; version 3 needs time by the square of the number of values; and the versions differ for a
// number beyond 64 bits (one clamps it, one wraps it).
struct Limits {
  std::size_t levels;  // of nesting, and of a dotted key
  std::size_t values;
  std::size_t marks;  // brackets in the text, and dots in a line, also in strings and comments
};
// None: the text is within the limits. Strings and comments do not count for `levels` and `values`.
// `marks` also holds for a parser whose idea of a string differs from TOML 1.0.
[[nodiscard]] std::optional<Fault> excess(std::string_view toml, const Limits& limits);

// The line of an offset; the first line is 1.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t offset);

}  // namespace pvrdma::toml_limits
