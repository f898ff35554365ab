// SPDX-License-Identifier: GPL-2.0-or-later
// The planner: it yields the actions to take now, the findings, and the time at which the plan may
// change without any event.
//
// Pure: the same inputs give the same Plan. A Plan proves nothing: only the next Snapshot tells
// whether an action worked, and the executor checks every action again before it acts.
#pragma once

#include <string>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

[[nodiscard]] Plan plan(const Config& config, const Snapshot& snapshot, const History& history,
                        BootTime now);

// The verdict. Leaves `since` to the caller, who knows the previous health. Adds the finding `slow`
// where an adapter has been converging for longer than readiness.timeout.
[[nodiscard]] Health assess(const Config& config, const Snapshot& snapshot, const Plan& plan,
                            const History& history, BootTime now);

// The same health, but with the state `unknown` where its look is older than `limit`.
[[nodiscard]] Health if_fresh(Health health, BootTime now, Milliseconds limit);

// True once network managers may start: vmw_pvrdma is live, or it is certain that it will not be.
[[nodiscard]] bool driver_is_decided(const Snapshot& snapshot, const Plan& plan);

// The pass as one line for the log at level debug: the state seen, and the actions with their
// reasons.
// "vmw_pvrdma live; 0000:13:00.1: driver vmw_pvrdma, netdev ens224f0 down, rocep19s0f1 port DOWN;
// ConfigureLink 0000:13:00.1 (the link is down)"
[[nodiscard]] std::string pass_line(const Snapshot& snapshot, const Plan& plan);

}  // namespace pvrdma
