#include "agent/tools/verify/peer/expectation.hpp"

#include <charconv>
#include <utility>

#include "agent/base/format.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::verify {

namespace {

constexpr double kMostFigure = 1e9;

// A positive number in front, and the unit behind it.
std::optional<std::pair<double, std::string_view>> split(std::string_view text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || !(number > 0) || number > kMostFigure) return std::nullopt;
  return std::pair{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::optional<double> parse_time_us(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  if (parts->second == "us" || parts->second == "µs") return parts->first;
  if (parts->second == "ms") return parts->first * 1000;
  return std::nullopt;
}

bool take(std::string_view word, Expectation& expected) {
  const std::string_view key = cut(word, '=');
  const std::string_view value = word;
  if (key == "latency" && !expected.latency_us) {
    expected.latency_us = parse_time_us(value);
    return expected.latency_us.has_value();
  }
  if (key != "bandwidth" || expected.bandwidth_mb_s || expected.bandwidth_percent) return false;
  if (const auto parts = split(value); parts && parts->second == "%") {
    expected.bandwidth_percent = parts->first;
    return true;
  }
  expected.bandwidth_mb_s = parse_rate(value);
  return expected.bandwidth_mb_s.has_value();
}

}  // namespace

std::optional<double> parse_rate(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  if (parts->second == "MB/s") return parts->first;
  if (parts->second == "Gb/s" || parts->second == "G") return parts->first * 125;
  return std::nullopt;
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
