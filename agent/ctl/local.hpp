// Looking at the system from this process: what `status` and `plan` do where no agent runs, as in a
// container or before the installation. Read-only.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::ctl {

struct LocalLook {
  Health health;
  Plan plan;
};

// What there is now, with the executor's ledger where that is readable. `port_query`: the program
// that asks ibv_query_port(3), or empty: it opens each device for some milliseconds.
[[nodiscard]] Snapshot observe_locally(const Root& root, const Config& config,
                                       const std::string& port_query = {});

// What an agent would conclude from that. `left_out`: why a part of the configuration does not
// count; empty: all does.
[[nodiscard]] LocalLook conclude_locally(const Config& config, const std::string& left_out,
                                         const Snapshot& snapshot);

// Both. It cannot tell what the agent remembers: attempts, settling times, transitions.
// An Error is that of the configuration.
[[nodiscard]] Result<LocalLook> look_locally(const Root& root = Root{});

}  // namespace pvrdma::ctl
