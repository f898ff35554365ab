// Looking at text before it is trusted to a parser.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pvrdma::text {

// The offset of the first byte that is not UTF-8 (RFC 3629); none: all is.
[[nodiscard]] std::optional<std::size_t> first_bad_utf8(std::string_view text);

// Where TOML text is more than toml11 should be given: it recurses as deep as the text nests
// arrays, tables and dotted keys, and version 3 takes time by the square of the number of values.
struct Limits {
  std::size_t levels;  // of nesting, and of a dotted key
  std::size_t values;
  std::size_t marks;  // brackets in the text, and dots in a line, in strings and comments as well
};
struct Excess {
  std::size_t offset;
  std::string what;  // "is nested too deeply"
};
// None: it stays within the limits. Strings and comments do not count for the first two; the third
// holds also where a parser takes something else for a string than TOML 1.0 does.
[[nodiscard]] std::optional<Excess> excess(std::string_view toml, const Limits& limits);

// The line of an offset, the first being 1.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t offset);

// The word that is meant by a mistyped one: at most two letters differ. None: nothing is close.
[[nodiscard]] std::optional<std::string> closest(const std::string& word,
                                                 const std::vector<std::string>& words);

}  // namespace pvrdma::text
