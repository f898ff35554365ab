// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `doctor`: our own look, and the answer of the agent where one runs.
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

// The numbers are the exit codes of `doctor`.
enum class Usable { Yes, WithWarnings, No = kExitFailed, Unknown = kExitUnknown };

struct Examination {
  Snapshot snapshot;
  Survey survey;
  State state = State::Unknown;  // from the agent, or from our own look
  bool by_agent = false;
  std::vector<Finding> findings;  // of the agent or our look, and of the surroundings
  std::vector<doctor::Check> checks;
};

// Looks at everything and asks the agent, for two seconds at most. Nothing is unloaded and no
// device opened. After a crash of the driver the adapters are not looked at, as that might hang.
[[nodiscard]] Examination examine(const Settings& settings, const DoctorOptions& options);

[[nodiscard]] Usable usable(const Examination& examination);
// Names who has to act on the worst finding (the first of these). None: there is nothing to do.
[[nodiscard]] std::optional<Actor> next_move(const Examination& examination);

}  // namespace pvrdma::ctl
