// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict: Health from a Snapshot and its Plan.
#pragma once

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

// Leaves `since` to the caller, who knows the previous health. Adds the finding `slow` where an
// adapter has been converging for longer than readiness.timeout.
[[nodiscard]] Health assess(const Config& config, const Snapshot& snapshot, const Plan& plan,
                            const History& history, BootTime now);

// The same health, but with the state `unknown` where its look is older than `limit`.
[[nodiscard]] Health if_fresh(Health health, BootTime now, Milliseconds limit);

// True once network managers may start: vmw_pvrdma is live, or it is certain that it will not be.
[[nodiscard]] bool driver_is_decided(const Snapshot& snapshot, const Plan& plan);

}  // namespace pvrdma
