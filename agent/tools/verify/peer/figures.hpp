// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the figures from the measurements of two machines. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace pvrdma::verify {

using Nanoseconds = std::chrono::nanoseconds;

// The smallest of the sorted times that at least `per_mille` of them do not exceed ("nearest
// rank"). There must be times.
inline Nanoseconds rank(const std::vector<Nanoseconds>& sorted, std::size_t per_mille) {
  return sorted.at((sorted.size() * per_mille + 999) / 1000 - 1);
}

// For one message one way, which is half a round trip, as in perftest. A percentile is rank() of
// the measured times; typical is the median.
struct LatencyFigures {
  std::size_t message_bytes = 0;
  std::size_t rounds = 0;
  Nanoseconds min{0}, typical{0}, average{0}, p99{0}, p999{0};
  friend bool operator==(const LatencyFigures&, const LatencyFigures&) = default;
};

// From round trips; none: there are no times.
[[nodiscard]] std::optional<LatencyFigures> latency_figures(std::size_t message_bytes,
                                                            std::vector<Nanoseconds> round_trips);

// Whether the medians of the batches are stable: the last three lie within two percent of each
// other.
[[nodiscard]] bool is_stable(const std::vector<Nanoseconds>& medians);

// The number of rounds that take about `slice`, where one takes `round`; from 20 to 5000.
[[nodiscard]] std::size_t rounds_within(Nanoseconds slice, Nanoseconds round);

}  // namespace pvrdma::verify
