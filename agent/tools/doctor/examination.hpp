// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `doctor`: our own look, and the answer of the agent where one runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/ctl/commands.hpp"
#include "agent/ctl/text.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/tools/doctor/checks.hpp"
#include "agent/tools/doctor/command.hpp"
#include "agent/tools/doctor/host_causes.hpp"
#include "agent/tools/doctor/host_checklist.hpp"
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

// The answers of `doctor` as text and as JSON. Pure.

// The verdict, the findings with their remedies, and the checks with their evidence.
[[nodiscard]] std::string render_examination(const Examination& examination, const Style& style);
[[nodiscard]] Json to_json(const Examination& examination);

// Identifies this VM for a person who sees it from outside.
struct VmIdentity {
  std::string host_name;
  std::string system;                 // "Ubuntu 22.04.5 LTS, Linux 5.15.0-125-generic"
  std::string uuid;                   // the BIOS's UUID; empty: not readable
  std::vector<std::string> adapters;  // "00:50:56:8a:9f:c2 (0000:13:00.1, ens224f0)"
};

// What the vSphere administrator is told: the faults, and all settings on the host's side.
struct Ticket {
  VmIdentity vm;
  std::vector<doctor::HostTrouble> troubles;
  std::vector<doctor::HostSetting> checklist;
};

// A text to forward to the vSphere administrator.
[[nodiscard]] std::string render_ticket(const Ticket& ticket, std::size_t width);
[[nodiscard]] Json ticket_json(const Ticket& ticket);

}  // namespace pvrdma::ctl
