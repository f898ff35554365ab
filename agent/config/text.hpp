// SPDX-License-Identifier: GPL-2.0-or-later
// Looking at text before it is trusted to a parser.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::text {

// Why a text is not given to a parser, and where.
struct Fault {
  std::size_t offset;
  std::string what;  // "is nested too deeply"
};

// A line in bytes, without its end.
inline constexpr std::size_t kLongestLine = 4096;

// None: it is UTF-8 (RFC 3629), has no control character but those that TOML takes (tab, line feed,
// and carriage return before one), and no line longer than kLongestLine.
[[nodiscard]] std::optional<Fault> unfit(std::string_view text);

// Where TOML text is more than toml11 should be given: it recurses as deep as the text nests
// arrays, tables and dotted keys, version 3 takes time by the square of the number of values, and
// the versions do different things with a number beyond 64 bits (one clamps it, one wraps it).
struct Limits {
  std::size_t levels;  // of nesting, and of a dotted key
  std::size_t values;
  std::size_t marks;  // brackets in the text, and dots in a line, in strings and comments as well
};
// None: it stays within the limits. Strings and comments do not count for the first two; the third
// holds also where a parser takes something else for a string than TOML 1.0 does.
[[nodiscard]] std::optional<Fault> excess(std::string_view toml, const Limits& limits);

// The line of an offset, the first being 1.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t offset);

// The word that is meant by a mistyped one: at most two letters differ. None: nothing is close.
[[nodiscard]] std::optional<std::string> closest(const std::string& word,
                                                 const std::vector<std::string>& words);

}  // namespace pvrdma::text
