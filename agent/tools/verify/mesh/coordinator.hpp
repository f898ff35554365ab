// SPDX-License-Identifier: GPL-2.0-or-later
// The coordinator: the machine where all of a mesh meet. It tells the pairs to measure, round by
// round, and collects their results.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent/tools/verify/mesh/judgement.hpp"
#include "agent/tools/verify/peer/reception.hpp"

namespace pvrdma::verify {

// The numbers of two machines, the smaller first: that machine listens.
using Pairing = std::pair<std::size_t, std::size_t>;

// Rounds of disjoint pairs, so that no machine measures with two others at a time: a round-robin
// tournament by the circle method, where one machine stays and the others go around it. All rounds
// together have each pair once: n - 1 rounds, or n where n is odd and one machine rests in each. At
// most `rounds_at_most`.
[[nodiscard]] std::vector<std::vector<Pairing>> schedule(std::size_t machines,
                                                         std::size_t rounds_at_most);

struct Meeting {
  std::size_t size = 0;                          // number of machines expected
  std::size_t rounds = 0;                        // at most
  Milliseconds all_come{0};                      // how long to wait for the last machine
  Milliseconds round_limit{0};                   // how long a pair may take
  std::vector<PairResult> earlier;               // pairs that are not measured again
  std::function<void(const PairResult&)> keep;   // takes each result as it comes
  std::function<void(const std::string&)> tell;  // shows the progress on a terminal
};

// Goes on without machines that do not come or are lost. An Error: fewer than two come. `reception`
// has to be made with `wants_first`.
[[nodiscard]] Result<Mesh> hold(Reception& reception, const Meeting& meeting);

}  // namespace pvrdma::verify
