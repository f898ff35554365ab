// SPDX-License-Identifier: GPL-2.0-or-later
// The figures that the user expects of a pair of VMs: --expect latency=50us,bandwidth=90%. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::verify {

struct Expectation {
  std::optional<double> latency_us;         // at most, typical
  std::optional<double> bandwidth_mb_s;     // at least, one way, the slower direction
  std::optional<double> bandwidth_percent;  // of the line rate, else of the best earlier run
};

inline constexpr const char* kExpectationRule =
    "latency=TIME (us, ms) and bandwidth=RATE (%, MB/s, Gb/s), separated by a comma";
inline constexpr const char* kRateRule = "a number and MB/s or Gb/s, as 100Gb/s";

[[nodiscard]] std::optional<Expectation> parse_expectation(std::string_view text);
// Megabytes a second; none: the text is no rate.
[[nodiscard]] std::optional<double> parse_rate(std::string_view text);

// The measured figures, and the rate that 100% stands for; none: no rate is known.
struct Compared {
  std::optional<double> latency_us;
  std::optional<double> bandwidth_mb_s;
  std::optional<double> reference_mb_s;
};

// A sentence for each expectation that is not met; empty: all are met.
[[nodiscard]] std::vector<std::string> unmet(const Expectation& expected, const Compared& with);

}  // namespace pvrdma::verify
