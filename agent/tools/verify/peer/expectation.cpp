// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/expectation.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::verify {

namespace {

constexpr double kMostFigure = 1e9;

// Parses a positive number with one of these units; each unit has its factor.
std::optional<double> in_units(std::string_view text,
                               std::initializer_list<std::pair<std::string_view, double>> units) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string digits{text.substr(0, length)};
  char* end = nullptr;
  // std::from_chars for double comes with GCC 11.
  const double number = std::strtod(digits.c_str(), &end);
  if (*end != '\0' || !(number > 0) || number > kMostFigure) return std::nullopt;
  for (const auto& [unit, factor] : units)
    if (text.substr(length) == unit) return number * factor;
  return std::nullopt;
}

bool take(std::string_view word, Expectation& expected) {
  const std::string_view key = cut(word, '=');
  if (key == "latency" && !expected.latency_us) {
    expected.latency_us = in_units(word, {{"us", 1}, {"µs", 1}, {"ms", 1000}});
    return expected.latency_us.has_value();
  }
  if (key != "bandwidth" || expected.bandwidth_mb_s || expected.bandwidth_percent) return false;
  expected.bandwidth_percent = in_units(word, {{"%", 1}});
  expected.bandwidth_mb_s = parse_rate(word);
  return expected.bandwidth_percent || expected.bandwidth_mb_s;
}

}  // namespace

std::optional<double> parse_rate(std::string_view text) {
  return in_units(text, {{"MB/s", 1}, {"Gb/s", 125}, {"G", 125}});
}

std::optional<Expectation> parse_expectation(std::string_view text) {
  Expectation expected;
  while (true) {
    const std::size_t comma = text.find(',');
    if (!take(text.substr(0, comma), expected)) return std::nullopt;
    if (comma == std::string_view::npos) return expected;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> unmet(const Expectation& expected, const Compared& with) {
  std::vector<std::string> found;
  if (expected.latency_us && !with.latency_us)
    found.emplace_back("The latency was not measured.");
  else if (expected.latency_us && *with.latency_us > *expected.latency_us)
    found.push_back(formatted("The latency is {:.1f} us, and at most {:.1f} us are expected.",
                              *with.latency_us, *expected.latency_us));
  std::optional<double> least = expected.bandwidth_mb_s;
  if (expected.bandwidth_percent) {
    if (!with.reference_mb_s) {
      found.emplace_back(
          "There is no earlier run with this peer to compare the bandwidth with: name "
          "--line-rate.");
      return found;
    }
    least = *with.reference_mb_s * *expected.bandwidth_percent / 100;
  }
  if (least && !with.bandwidth_mb_s)
    found.emplace_back("The bandwidth was not measured.");
  else if (least && *with.bandwidth_mb_s < *least)
    found.push_back(
        formatted("The bandwidth is {:.0f} MB/s, and at least {:.0f} MB/s are expected.",
                  *with.bandwidth_mb_s, *least));
  return found;
}

}  // namespace pvrdma::verify
