// SPDX-License-Identifier: GPL-2.0-or-later
// One machine of a mesh: it does what it is told by the machine where all meet.
#pragma once

#include "agent/tools/verify/mesh/pair_result.hpp"
#include "agent/tools/verify/peer/control.hpp"
#include "agent/tools/verify/peer/helper.hpp"

namespace pvrdma::verify {

// How long the two sides of a pair wait for each other, and the MTU's search takes.
inline constexpr Milliseconds kPairWait = std::chrono::seconds{30};
inline constexpr Milliseconds kMtuLimit = std::chrono::seconds{20};

// Takes part until it is told that all is measured; how many pairs it measured. `all_come`: how
// long the last machine may take to come. `control` is greeted already.
[[nodiscard]] Result<unsigned> take_part(Control& control, const ctl::Helper& helper,
                                         Milliseconds all_come);

// Where the others reach this machine: its adapter's address, or, of one without, that of its end
// of the connection.
[[nodiscard]] Result<std::string> address_in_mesh(const std::string& adapters,
                                                  const std::string& connections);

// What a machine asks, or answers, in a line.
[[nodiscard]] Json join_message(const Machine& machine);
// EBADMSG: it is none, or its address is no address.
[[nodiscard]] Result<Machine> machine_from(const Json& message);

}  // namespace pvrdma::verify
