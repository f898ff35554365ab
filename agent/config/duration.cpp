// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config/duration.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace pvrdma {

namespace {

constexpr std::int64_t kLongestMs = 366LL * 24 * 60 * 60 * 1000;

constexpr bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Milliseconds in a unit; 0: no such unit.
std::int64_t unit_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit.empty() || unit == "s" || unit == "sec") return 1000;
  if (unit == "m" || unit == "min") return 60LL * 1000;
  if (unit == "h" || unit == "hr") return 60LL * 60 * 1000;
  return 0;
}

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace

std::optional<Milliseconds> parse_duration(std::string_view text) {
  skip_spaces(text);
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || text.front() == '-' || number > kLongestMs) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_spaces(text);
    const auto* unit_end = std::find_if_not(text.begin(), text.end(), is_letter);
    const auto length = static_cast<std::size_t>(unit_end - text.begin());
    const std::int64_t unit = unit_ms(text.substr(0, length));
    if (unit == 0 || number > kLongestMs / unit) return std::nullopt;
    total += number * unit;
    if (total > kLongestMs) return std::nullopt;
    text.remove_prefix(length);
    skip_spaces(text);
  }
  return Milliseconds{total};
}

std::optional<Milliseconds> parse_timeout(std::string_view text) {
  const auto time = parse_duration(text);
  return time && *time >= kTimeoutMin && *time <= kTimeoutMax ? time : std::nullopt;
}

}  // namespace pvrdma
