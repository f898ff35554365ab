#include "agent/tools/verify/latency.hpp"

#include <algorithm>

namespace pvrdma::ctl::selftest {

std::optional<Latency> latency_of(std::vector<Nanoseconds> times) {
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const auto rank = [&](std::size_t percent) {
    return times[(times.size() * percent + 99) / 100 - 1];
  };
  return Latency{rank(50), rank(99), times.back()};
}

}  // namespace pvrdma::ctl::selftest
