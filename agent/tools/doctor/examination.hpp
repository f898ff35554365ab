// SPDX-License-Identifier: GPL-2.0-or-later
// What `doctor` found: a look of its own, and the agent's word where one runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/ctl/commands.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/tools/doctor/checks.hpp"
#include "agent/tools/doctor/command.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::ctl {

// By their numbers the exit codes of `doctor`.
enum class Usable { Yes, WithWarnings, No = kExitFailed, Unknown = kExitUnknown };

struct Examination {
  Snapshot snapshot;
  Survey survey;
  State state = State::Unknown;  // by the agent, or by our own look
  bool by_agent = false;
  std::vector<Finding> findings;  // the agent's or our look's, and of the surroundings
  std::vector<doctor::Check> checks;
};

// Looks at everything; asks the agent for two seconds at most. Nothing here unloads or opens a
// device. After a crash of the driver the adapters are not looked at, as that might hang.
[[nodiscard]] Examination examine(const Settings& settings, const DoctorOptions& options);

[[nodiscard]] Usable usable(const Examination& examination);
// Whose move it is: that of the first of the worst findings. None: there is nothing to do.
[[nodiscard]] std::optional<Actor> next_move(const Examination& examination);

}  // namespace pvrdma::ctl
