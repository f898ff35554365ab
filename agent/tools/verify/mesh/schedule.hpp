// Who measures with whom, and when. Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace pvrdma::verify {

// Numbers of two machines, the smaller first: that one listens.
using Pairing = std::pair<std::size_t, std::size_t>;

// Rounds of disjoint pairs, so that nobody measures with two at a time: a round-robin tournament by
// the circle method, where one machine stays and the others go around it. All rounds together have
// each pair once: n - 1 of them, or n where n is odd and one machine rests in each. No more than
// `rounds_at_most`.
[[nodiscard]] std::vector<std::vector<Pairing>> schedule(std::size_t machines,
                                                         std::size_t rounds_at_most);

}  // namespace pvrdma::verify
