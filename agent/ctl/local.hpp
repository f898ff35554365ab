// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the system from this process: for `status` and `plan` where no agent runs, as in a
// container or before the installation. Read-only.
#pragma once

#include <string>

#include "agent/base/file.hpp"
#include "agent/config/config_files.hpp"
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
  std::string port_query;  // calls ibv_query_port(3), for which it opens each device for some
                           // milliseconds; empty: no such call
  std::string module_lookup = PVRDMA_MODULE_LOOKUP;
  [[nodiscard]] Helpers without_port_query() const { return {{}, module_lookup}; }
};

// A look at the present state, with the executor's ledger where it is readable.
[[nodiscard]] Snapshot observe_locally(const Root& root, const Config& config,
                                       const Helpers& helpers = {});

// The conclusions that an agent would draw from it.
[[nodiscard]] LocalLook conclude_locally(const LoadedConfig& loaded, const Snapshot& snapshot);

// Both of the above. It does not know what the agent remembers: attempts, settling times,
// transitions.
[[nodiscard]] LocalLook look_locally(const Root& root = Root{});

}  // namespace pvrdma::ctl
