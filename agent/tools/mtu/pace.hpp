// How long to wait for the answer to a probe. Pure.
#pragma once

#include <algorithm>

#include "agent/base/clock.hpp"

namespace pvrdma::ctl::pmtu {

class Pace {
 public:
  // An answer took this long.
  void sample(Milliseconds round_trip) { slowest_ = std::max(slowest_, round_trip); }

  // For the `attempt`th probe of one size, from 1. Each waits twice as long as the one before, up
  // to a second: what is lost in one burst shall not decide. An answer that comes later still
  // counts, so too short a time costs probes and nothing else.
  [[nodiscard]] Milliseconds wait(unsigned attempt) const {
    if (slowest_ < Milliseconds{0}) return kWithoutSample;
    // Larger packets and busier moments take longer than what was seen so far.
    const Milliseconds first = std::clamp(2 * slowest_ + kSlack, kShortest, kLongest);
    const Milliseconds grown = first * (1U << std::min(attempt - 1, 8U));
    return std::min(grown, std::max(first, kWithoutSample));
  }

 private:
  static constexpr Milliseconds kWithoutSample{1000};  // RFC 6298
  static constexpr Milliseconds kShortest{200};
  static constexpr Milliseconds kLongest{3000};
  static constexpr Milliseconds kSlack{100};

  Milliseconds slowest_{-1};
};

}  // namespace pvrdma::ctl::pmtu
