// SPDX-License-Identifier: GPL-2.0-or-later
// The machine where all of a mesh meet: it tells pairs to measure, round by round, and collects
// what they find.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agent/tools/verify/mesh/judgement.hpp"
#include "agent/tools/verify/peer/reception.hpp"

namespace pvrdma::verify {

// Numbers of two machines, the smaller first: that one listens.
using Pairing = std::pair<std::size_t, std::size_t>;

// Rounds of disjoint pairs, so that nobody measures with two at a time: a round-robin tournament by
// the circle method, where one machine stays and the others go around it. All rounds together have
// each pair once: n - 1 of them, or n where n is odd and one machine rests in each. No more than
// `rounds_at_most`.
[[nodiscard]] std::vector<std::vector<Pairing>> schedule(std::size_t machines,
                                                         std::size_t rounds_at_most);

struct Meeting {
  std::size_t size = 0;                          // machines that are to come
  std::size_t rounds = 0;                        // at most
  Milliseconds all_come{0};                      // how long to wait for the last one
  Milliseconds round_limit{0};                   // how long a pair may take
  std::vector<PairResult> earlier;               // measured before: not again
  std::function<void(const PairResult&)> keep;   // each result, as it comes
  std::function<void(const std::string&)> tell;  // what is being done, for a terminal
};

// Goes on with who is there where machines do not come, or are lost. An Error where fewer than two
// come. `reception` wants the first line of each.
[[nodiscard]] Result<Mesh> hold(Reception& reception, const Meeting& meeting);

}  // namespace pvrdma::verify
