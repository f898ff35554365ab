// Looking at the system from this process: what `status` and `plan` do where no agent runs, as in a
// container or before the installation. Read-only.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

namespace pvrdma::ctl {

using Json = nlohmann::json;

// In the form of the interface io.pvrdma.Agent.
struct LocalLook {
  std::shared_ptr<const Json> health;
  std::shared_ptr<const Json> plan;
};

// One look. It cannot tell what the agent remembers: attempts, settling times, transitions.
// An Error is that of the configuration.
[[nodiscard]] Result<LocalLook> look_locally(const Root& root = Root{});

}  // namespace pvrdma::ctl
