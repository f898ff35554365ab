// SPDX-License-Identifier: GPL-2.0-or-later
// The planner: it yields the actions to take now, the findings, and the time at which the plan may
// change without any event.
//
// Pure: the same inputs give the same Plan. A Plan proves nothing: only the next Snapshot tells
// whether an action worked, and the executor checks every action again before it acts.
#pragma once

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

[[nodiscard]] Plan plan(const Config& config, const Snapshot& snapshot, const History& history,
                        BootTime now);

}  // namespace pvrdma
