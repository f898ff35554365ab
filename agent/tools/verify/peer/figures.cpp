// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/figures.hpp"

#include <algorithm>
#include <numeric>

namespace pvrdma::verify {

namespace {

constexpr std::size_t kFewestRounds = 20;
constexpr std::size_t kMostRounds = 5000;

}  // namespace

std::optional<LatencyFigures> latency_figures(std::size_t message_bytes,
                                              std::vector<Nanoseconds> round_trips) {
  if (round_trips.empty()) return std::nullopt;
  for (Nanoseconds& time : round_trips) time /= 2;
  std::sort(round_trips.begin(), round_trips.end());
  const Nanoseconds sum = std::accumulate(round_trips.begin(), round_trips.end(), Nanoseconds{0});
  LatencyFigures figures;
  figures.message_bytes = message_bytes;
  figures.rounds = round_trips.size();
  figures.min = round_trips.front();
  figures.typical = rank(round_trips, 500);
  figures.average = sum / static_cast<Nanoseconds::rep>(round_trips.size());
  figures.p99 = rank(round_trips, 990);
  figures.p999 = rank(round_trips, 999);
  return figures;
}

bool is_stable(const std::vector<Nanoseconds>& medians) {
  if (medians.size() < 3) return false;
  const auto [low, high] = std::minmax_element(medians.end() - 3, medians.end());
  return (*high - *low) * 50 <= *high;
}

std::size_t rounds_within(Nanoseconds slice, Nanoseconds round) {
  const auto fit = slice / std::max(round, Nanoseconds{1});
  return std::clamp(static_cast<std::size_t>(std::max<Nanoseconds::rep>(fit, 0)), kFewestRounds,
                    kMostRounds);
}

}  // namespace pvrdma::verify
