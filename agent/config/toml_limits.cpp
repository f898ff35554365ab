// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config/toml_limits.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "agent/base/text.hpp"

namespace pvrdma::toml_limits {

namespace {

// The offset after the end of a string with three quotes. One or two more quotes may stand directly
// before the closing three (TOML 1.0, ml-basic-string and ml-literal-string).
std::size_t after_quotes(std::string_view text, std::size_t start) {
  std::size_t end = start + 3;
  while (end < text.size() && end < start + 5 && text[end] == text[start]) ++end;
  return end;
}

// The offset just after a string or comment that starts at `start`; `start` where none starts. An
// unterminated one ends with its line, or with the text if it has three quotes.
std::size_t skip_opaque(std::string_view text, std::size_t start) {
  const auto up_to = [&](std::size_t found, std::size_t length) {
    return found == std::string_view::npos ? text.size() : found + length;
  };
  const char first = text[start];
  if (first == '#') return up_to(text.find('\n', start), 0);
  if (first != '"' && first != '\'') return start;
  const bool escapes = first == '"';
  const std::string three(3, first);
  const bool long_form = text.substr(start, 3) == three;
  for (std::size_t i = start + (long_form ? 3 : 1); i < text.size(); ++i) {
    if (escapes && text[i] == '\\')
      ++i;
    else if (long_form && text.substr(i, 3) == three)
      return after_quotes(text, i);
    else if (!long_form && text[i] == first)
      return i + 1;
    else if (!long_form && text[i] == '\n')
      return i;
  }
  return text.size();
}

// Characters of numbers; bare keys and dates use the same ones.
bool is_of_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '+' || c == '-' || c == '.';
}

// Whether the word is an integer that does not fit into 64 bits.
bool is_beyond_64_bits(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x")) base = 16;
  if (word.starts_with("0o")) base = 8;
  if (word.starts_with("0b")) base = 2;
  if (base != 10) word.remove_prefix(2);
  if (base == 10 && word.starts_with('+')) word.remove_prefix(1);
  std::string digits;
  std::copy_if(word.begin(), word.end(), std::back_inserter(digits),
               [](char c) { return c != '_'; });
  std::int64_t value = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return code == std::errc::result_out_of_range && end == digits.data() + digits.size();
}

// toml11 3 doubles a 64-bit number for each digit, once more than needed, so it overflows with 63
// digits.
bool has_many_binary_digits(std::string_view word) {
  constexpr std::ptrdiff_t kMost = 62;
  return word.starts_with("0b") &&
         std::count_if(word.begin() + 2, word.end(), [](char c) { return c != '_'; }) > kMost;
}

// The fault of a too large number that begins at `at`, with its key if that stands before it.
std::optional<Fault> large_number(std::string_view toml, std::size_t at) {
  if (at > 0 && is_of_word(toml[at - 1])) return std::nullopt;
  const auto* const end = std::find_if_not(toml.begin() + at, toml.end(), is_of_word);
  const std::string_view word = toml.substr(at, static_cast<std::size_t>(end - toml.begin()) - at);
  const bool is_beyond = is_beyond_64_bits(word);
  if (!is_beyond && !has_many_binary_digits(word)) return std::nullopt;
  std::string_view before = toml.substr(0, at);
  before.remove_prefix(before.rfind('\n') + 1);
  const std::size_t equals = before.find('=');
  const std::string key = equals == std::string_view::npos
                              ? ""
                              : printable(trimmed(before.substr(0, equals)), 60) + " = ";
  return Fault{
      at, key + printable(word, 80) +
              (is_beyond ? ": is an integer beyond 64 bits" : ": has more than 62 binary digits")};
}

// Counts brackets and dots also in strings, as a parser may see strings elsewhere: it cannot nest
// deeper than there are brackets in the text, or dots on a line.
std::optional<Fault> excess_of_marks(std::string_view toml, std::size_t most) {
  std::size_t brackets = 0;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < toml.size(); ++i) {
    const char c = toml[i];
    if (c == '\n') dots = 0;
    if (c == '.') ++dots;
    if (c == '[' || c == '{') ++brackets;
    if (dots > most || brackets > most)
      return Fault{i, "has more than " + std::to_string(most) +
                          (dots > most ? " dots in a line" : " brackets")};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> unfit(std::string_view text) {
  std::size_t line = 0;  // where the line begins
  for (std::size_t i = 0; i < text.size();) {
    const auto [value, length] = first_code_point(text.substr(i));
    if (length == 0) return Fault{i, "is not UTF-8 text"};
    const bool ends_line = value == '\n' || text.substr(i, 2) == "\r\n";
    if ((value < ' ' || value == 0x7f) && value != '\t' && !ends_line)
      return Fault{i, "has a control character, " + printable(text.substr(i, 1))};
    i += length;
    if (value == '\n') line = i;
    if (i - line > kLongestLine)
      return Fault{i, "has a line of more than " + std::to_string(kLongestLine) + " bytes"};
  }
  return std::nullopt;
}

std::optional<Fault> excess(std::string_view toml, const Limits& limits) {
  std::size_t depth = 0;
  std::size_t dots = 0;   // in one key
  std::size_t marks = 0;  // at least one for each value and header
  for (std::size_t i = 0; i < toml.size();) {
    const std::size_t after = skip_opaque(toml, i);
    if (after != i) {
      i = after;
      continue;
    }
    if (auto fault = large_number(toml, i)) return fault;
    const char c = toml[i];
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '\n' || c == '=' || c == ',') dots = 0;
    if (c == '.') ++dots;
    if (c == '[' || c == '=' || c == ',') ++marks;
    if (depth > limits.levels || dots > limits.levels) return Fault{i, "is nested too deeply"};
    if (marks > limits.values)
      return Fault{i, "has more than " + std::to_string(limits.values) + " values"};
    ++i;
  }
  return excess_of_marks(toml, limits.marks);
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace pvrdma::toml_limits
