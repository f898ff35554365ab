// SPDX-License-Identifier: GPL-2.0-or-later
// A whole run: the client's measurements, and the other side's part in them.
#pragma once

#include <functional>
#include <string>

#include "agent/tools/verify/peer/run.hpp"

namespace pvrdma::verify {

// Shows the progress on a terminal.
using Progress = std::function<void(const std::string& doing)>;

// Measures latencies, bandwidths, message rate, and TCP's, in about `duration`. The members are
// those of `pvrdma-agentctl verify --json`; see pvrdma-agentctl-verify(1).
[[nodiscard]] Result<Json> measure(Control& control, Connection& connection, Milliseconds duration,
                                   const Progress& progress);

// How long a listener with this --duration serves a client that told its own.
[[nodiscard]] Milliseconds serving_limit(Milliseconds own, Milliseconds told);

// Serves the client until the client ends the run. Returns "parts", their number, and "figures",
// the result of the client's measure(), which is null where the client did not tell it.
[[nodiscard]] Result<Json> serve(Control& control, Connection& connection, BootTime deadline);

// Both sides call this after the greeting. Returns the peer's queue pair, to connect to.
[[nodiscard]] Result<PairName> exchange_names(Control& control, const PairName& own,
                                              BootTime deadline);

}  // namespace pvrdma::verify
