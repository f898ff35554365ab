#include "agent/tools/verify/mesh/schedule.hpp"

#include <algorithm>

namespace pvrdma::verify {

std::vector<std::vector<Pairing>> schedule(std::size_t machines, std::size_t rounds_at_most) {
  std::vector<std::vector<Pairing>> rounds;
  if (machines < 2) return rounds;
  // With an odd number, who meets the one that does not exist rests.
  const std::size_t seats = machines + machines % 2;
  const std::size_t around = seats - 1;
  for (std::size_t round = 0; round < std::min(around, rounds_at_most); ++round) {
    std::vector<Pairing>& pairs = rounds.emplace_back();
    pairs.reserve(seats / 2);
    const auto add = [&](std::size_t one, std::size_t other) {
      if (std::max(one, other) < machines) pairs.push_back(std::minmax({one, other}));
    };
    add(around, round);
    for (std::size_t step = 1; step < seats / 2; ++step)
      add((round + step) % around, (round + around - step) % around);
  }
  return rounds;
}

}  // namespace pvrdma::verify
