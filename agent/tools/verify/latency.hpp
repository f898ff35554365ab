// Figures of many round trips. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace pvrdma::ctl::selftest {

using Nanoseconds = std::chrono::nanoseconds;

// Each is one of the measured times: the smallest that at least half, or 99 in 100, of them do not
// exceed ("nearest rank"), and the largest.
struct Latency {
  Nanoseconds median{0}, p99{0}, max{0};
  friend bool operator==(const Latency&, const Latency&) = default;
};

// None for no times at all.
[[nodiscard]] std::optional<Latency> latency_of(std::vector<Nanoseconds> times);

}  // namespace pvrdma::ctl::selftest
