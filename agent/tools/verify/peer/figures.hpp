// SPDX-License-Identifier: GPL-2.0-or-later
// What two machines' measurements come to. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace pvrdma::verify {

using Nanoseconds = std::chrono::nanoseconds;

// Of the times of one message each way, half a round trip as perftest has it. Percentiles are those
// that at least as many of the times do not exceed ("nearest rank"); typical is the median.
struct LatencyFigures {
  std::size_t message_bytes = 0;
  std::size_t rounds = 0;
  Nanoseconds min{0}, typical{0}, average{0}, p99{0}, p999{0};
  friend bool operator==(const LatencyFigures&, const LatencyFigures&) = default;
};

// Of round trips. None for no times at all.
[[nodiscard]] std::optional<LatencyFigures> latency_figures(std::size_t message_bytes,
                                                            std::vector<Nanoseconds> round_trips);

// Whether the medians of the batches measured so far have come to rest: the last three lie within
// two percent of each other.
[[nodiscard]] bool is_stable(const std::vector<Nanoseconds>& medians);

// Rounds for a batch that takes about `slice`, at one round in `round`; from 20 to 5000.
[[nodiscard]] std::size_t rounds_within(Nanoseconds slice, Nanoseconds round);

}  // namespace pvrdma::verify
