// SPDX-License-Identifier: GPL-2.0-or-later
// The whole of a run: what the client measures, and how the other side serves it.
#pragma once

#include <functional>
#include <string>

#include "agent/tools/verify/peer/run.hpp"

namespace pvrdma::verify {

// What is being done, for a terminal.
using Progress = std::function<void(const std::string& doing)>;

// Latencies, bandwidths, message rate, and TCP's, in about `duration`. The members are those that
// `pvrdma-agentctl verify --json` prints; see pvrdma-agentctl-verify(1).
[[nodiscard]] Result<Json> measure(Control& control, Link& link, Milliseconds duration,
                                   const Progress& progress);

// The other side of a run, until the client has ended it: "parts", how many there were, and
// "figures", what measure() gave there; null: the client did not tell.
[[nodiscard]] Result<Json> serve(Control& control, Link& link, BootTime deadline);

// Both sides, once they have greeted: of the peer's queue pair, to connect to.
[[nodiscard]] Result<LinkName> exchange_names(Control& control, const Link& link,
                                              BootTime deadline);

}  // namespace pvrdma::verify
