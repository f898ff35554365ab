// SPDX-License-Identifier: GPL-2.0-or-later
// One machine of a mesh: does what the coordinator tells it.
#pragma once

#include <cstddef>

#include "agent/tools/verify/mesh/pair_result.hpp"
#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/peer/helper.hpp"

namespace pvrdma::verify {

// How long the two machines of a pair wait for each other, and how long the search for the MTU
// takes.
inline constexpr Milliseconds kPairWait = std::chrono::seconds{30};
inline constexpr Milliseconds kMtuLimit = std::chrono::seconds{20};

// Takes part until the coordinator says that everything is measured; returns the number of pairs
// that this machine measured. `patience`: how long the coordinator may say nothing. `control` is
// greeted already, and `helper` has an own_address().
[[nodiscard]] Result<unsigned> take_part(Control& control, const ctl::Helper& helper,
                                         Milliseconds patience);
// How long a round may take.
[[nodiscard]] Milliseconds round_limit(const ctl::Helper& helper);
// How long a machine waits for the coordinator's next word. With --resume it may rest in all rounds
// but the last one. `all_come`: how long the last machine may take to come.
[[nodiscard]] Milliseconds patience_of(const ctl::Helper& helper, Milliseconds all_come,
                                       std::size_t rounds);

// The address at which the others reach this machine: its adapter's. Another interface's would let
// them measure TCP and the MTU of another network. An Error: `adapters` is empty.
[[nodiscard]] Result<std::string> address_in_mesh(const std::string& adapters,
                                                  const std::string& device);

// The line by which a machine joins.
[[nodiscard]] Json join_message(const Machine& machine);
// EBADMSG: the message names no machine, or its address is no address.
[[nodiscard]] Result<Machine> machine_from(const Json& message);

}  // namespace pvrdma::verify
