// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict: Health out of what was seen and what is planned.
#pragma once

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

// `since` is left for the caller, who knows the health before. Adds the finding `slow` where an
// adapter has been converging for longer than readiness.timeout.
[[nodiscard]] Health assess(const Config& config, const Snapshot& snapshot, const Plan& plan,
                            const History& history, BootTime now);

// The same health when its observation is older than `limit`: nothing is claimed from a stale look.
[[nodiscard]] Health if_fresh(Health health, BootTime now, Milliseconds limit);

// True once network managers may start: vmw_pvrdma is live, or it is settled that it will not be.
[[nodiscard]] bool driver_is_decided(const Snapshot& snapshot, const Plan& plan);

}  // namespace pvrdma
