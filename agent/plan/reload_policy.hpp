// SPDX-License-Identifier: GPL-2.0-or-later
// The only place that decides whether the driver may be taken away now: reloaded, or rebound where
// it is built into the kernel. If not, it yields the finding that says why, or the time to wait
// for.
//
// The planner's ladder asks it, and so does step() for an administrator's request
// (step_asked.cpp). The executor's guard (agent/executor/guard) decides once more, from facts that
// it reads itself. With the same facts the guard grants everything that is granted here
// (tests/unit/executor/test_reload_policy). This side checks more: budgets, pauses, and scripts
// that are still running.
#pragma once

#include <optional>
#include <string>

#include "agent/plan/rules.hpp"

namespace pvrdma {

enum class ReloadCause {
  Requested,    // by an administrator: no pauses
  OncePerBoot,  // modules.reload = "always"
  PortDown,     // a port is down while its link and carrier are up
  NetdevLost,   // an RDMA device has lost its netdev: a reload surely cures that
};

struct ReloadVerdict {
  std::optional<Operation> granted;  // the operation that takes the driver away
  std::optional<Finding> refusal;    // why the driver must stay
  std::optional<BootTime> until;     // the verdict may change then without any event
};

// `why`: the reason, for the findings. `adapter`: the function concerned; empty: all. Where the
// driver is not live, or has no function, the verdict is empty.
[[nodiscard]] ReloadVerdict may_reload(const Inputs& in, ReloadCause cause, const std::string& why,
                                       const std::string& adapter = {});

// An administrator's request, io.pvrdma.Agent.Reload.
inline constexpr const char* kRequested = "an administrator asked for it";
[[nodiscard]] inline ReloadVerdict requested_reload(const Inputs& in) {
  return may_reload(in, ReloadCause::Requested, kRequested);
}

// The executor's refusal of a reload that was granted here, or the failure of the last reload; none
// where another finding says so.
[[nodiscard]] std::optional<Finding> executor_refusal(const Inputs& in,
                                                      const std::string& adapter = {});

// True where no reload will follow soon, or a reload was tried and did not help.
[[nodiscard]] bool reload_cannot_help(const Inputs& in, const std::string& adapter);

}  // namespace pvrdma
