// SPDX-License-Identifier: GPL-2.0-or-later
// The one place that says whether the driver may be taken away now: reloaded, or rebound where it
// is built into the kernel. If not, which finding says why, or until when to wait.
//
// The planner's ladder asks, and so does the daemon for an administrator's request. On the other
// side the executor's guard (agent/executor/guard) decides once more, from what it reads itself:
// whatever is granted here is granted there on the same facts (tests/unit/executor/
// test_reload_policy), and more is asked here: budgets, pauses, scripts that are still running.
#pragma once

#include <optional>
#include <string>

#include "agent/plan/rules.hpp"

namespace pvrdma {

enum class ReloadCause {
  Requested,    // by an administrator, who need not wait for pauses
  OncePerBoot,  // modules.reload = "always"
  PortDown,     // an adapter's port, its link and carrier being up
  NetdevLost,   // an adapter's RDMA device has lost its netdev: a reload surely cures that
};

struct ReloadVerdict {
  std::optional<Operation> granted;  // what takes the driver away
  std::optional<Finding> refusal;    // why it must not be
  std::optional<BootTime> until;     // when time alone will change the verdict
};

// `why`: the reason, for the findings. `adapter`: the function it is about; empty: all.
// Without a driver to take away (it is not live, or has no function) nothing is granted and nothing
// refused.
[[nodiscard]] ReloadVerdict may_reload(const Inputs& in, ReloadCause cause, const std::string& why,
                                       const std::string& adapter = {});

// An administrator's request, io.pvrdma.Agent.Reload.
inline constexpr const char* kRequested = "an administrator asked for it";
[[nodiscard]] inline ReloadVerdict requested_reload(const Inputs& in) {
  return may_reload(in, ReloadCause::Requested, kRequested);
}

// What the executor has said against a reload that this side had granted, or why the last one did
// not work; where no other finding says so.
[[nodiscard]] std::optional<Finding> executor_refusal(const Inputs& in);

// True where no reload will follow, or none that was tried has helped.
[[nodiscard]] bool reload_cannot_help(const Inputs& in);

}  // namespace pvrdma
