// SPDX-License-Identifier: GPL-2.0-or-later
// Looking at the system from this process: what `status` and `plan` do where no agent runs, as in a
// container or before the installation. Read-only.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"
#include "build_config.hpp"

namespace pvrdma::ctl {

struct LocalLook {
  Health health;
  Plan plan;
};

// Paths of the programs that a look runs.
struct Helpers {
  std::string port_query;  // asks ibv_query_port(3), for which it opens each device for some
                           // milliseconds; empty: nobody asks
  std::string module_lookup = PVRDMA_MODULE_LOOKUP;
  [[nodiscard]] Helpers without_port_query() const { return {{}, module_lookup}; }
};

// What there is now, with the executor's ledger where that is readable.
[[nodiscard]] Snapshot observe_locally(const Root& root, const Config& config,
                                       const Helpers& helpers = {});

// What an agent would conclude from that. `left_out`: why a part of the configuration does not
// count; empty: all does.
[[nodiscard]] LocalLook conclude_locally(const Config& config, const std::string& left_out,
                                         const Snapshot& snapshot);

// Both. It cannot tell what the agent remembers: attempts, settling times, transitions.
// An Error is that of the configuration.
[[nodiscard]] Result<LocalLook> look_locally(const Root& root = Root{});

}  // namespace pvrdma::ctl
