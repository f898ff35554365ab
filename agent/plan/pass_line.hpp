// SPDX-License-Identifier: GPL-2.0-or-later
// A pass as one line for the log at level debug: the state seen, and the actions with their
// reasons.
#pragma once

#include <string>

#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma {

// "vmw_pvrdma live; 0000:13:00.1: driver vmw_pvrdma, netdev ens224f0 down, port DOWN;
// ConfigureLink 0000:13:00.1 (the link is down)"
[[nodiscard]] std::string pass_line(const Snapshot& snapshot, const Plan& plan);

}  // namespace pvrdma
