// SPDX-License-Identifier: GPL-2.0-or-later
// The planner's rules. Each reads Inputs and adds to a Draft. planner.cpp calls them in this order.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

struct Inputs {
  const Config& config;
  const Snapshot& snapshot;
  const History& history;
  BootTime now;
};

[[nodiscard]] inline AdapterHistory history_of(const Inputs& in, const Adapter& adapter) {
  return history_of(in.history, adapter, in.now);
}

struct Draft {
  Plan plan;

  void act(Operation operation, std::string reason) {
    plan.actions.push_back({std::move(operation), std::move(reason)});
  }
  void find(Finding finding) { plan.findings.push_back(std::move(finding)); }
  // Time alone may change the plan at `when`.
  void look_by(BootTime when) {
    if (!plan.next_look || when < *plan.next_look) plan.next_look = when;
  }
};

// Whether `when` has come; if not, plans a look for that time.
[[nodiscard]] inline bool has_come(BootTime when, const Inputs& in, Draft& draft) {
  if (in.now >= when) return true;
  draft.look_by(when);
  return false;
}

// Whether `patience` has passed since the adapter's last change; if not, plans a look for its end.
[[nodiscard]] inline bool has_settled(const Inputs& in, const Adapter& adapter, Draft& draft,
                                      Milliseconds patience = kSettle) {
  return has_come(history_of(in, adapter).changed + patience, in, draft);
}

// The further tries of a gentle operation once its budget is used up.
enum class Afterwards {
  GiveUp,  // no try until the state changes
  // A try every ten minutes, for ever: the end of the obstacle cannot be seen here. The other host
  // with the same address may be gone, the host may offer RoCE again, or memory may be free again.
  TrySlowly,
};

// TrySlowly where the newest attempt failed. Otherwise GiveUp: the agent does not fight a program
// that undoes its work, and a module that the kernel refuses (a signature) needs an administrator.
[[nodiscard]] Afterwards slowly_if_failed(const Inputs& in, Verb verb, const std::string& target);

// For a gentle operation, which can harm no job: plans it if the budget for its verb and target
// allows it now. Adds a finding if it failed, if the executor refused it, or if the budget is used
// up.
void try_within_budget(const Inputs& in, Draft& draft, Operation operation, std::string reason,
                       std::optional<std::string> adapter,
                       Afterwards afterwards = Afterwards::GiveUp);

// True while the agent waits for the customization of a fresh clone (probes/customization.hpp).
// Meanwhile modules are loaded, functions bound and links brought up, as none of these depends on
// the clone's identity. Addresses and MTU wait, as the present configuration may be the template's.
// The wait has a limit, as a customization that hangs must not keep an adapter down for ever. A
// customization that cannot be read counts as under way.
[[nodiscard]] bool awaits_customization(const Inputs& in);
// Adds the finding about a customization that is waited for, or no longer waited for.
void report_customization(const Inputs& in, Draft& draft);

// Findings about the networks of the adapters, no matter which program has configured them: two
// adapters in one subnet, a default route over an adapter, an address outside the subnets that are
// configured for the adapter. No actions.
void check_networks(const Inputs& in, Draft& draft);

// Rules 1 to 3 can disturb no job. Rule 1: vmxnet3 and the modules that must precede vmw_pvrdma.
void load_predecessors(const Inputs& in, Draft& draft);

// True where each of them is live, or the driver need not wait for it.
[[nodiscard]] bool predecessors_are_done(const Inputs& in);

// Rule 2: vmw_pvrdma, last.
void load_driver(const Inputs& in, Draft& draft);

// Rule 3: a function whose probe failed.
void bind_functions(const Inputs& in, Draft& draft);

// Rule 4: links that the agent manages are brought up and configured; links of a network manager
// are only compared with the configuration.
//
// Nothing is done before vmw_pvrdma is live: on Linux 6.1 and 6.12 a link that comes up while the
// driver probes is a kernel oops (agent/executor/driver.hpp). With manage = "auto", MTU and
// addresses wait for a minute at most until every network manager has decided about the link, and
// always until no customization is under way. Bringing the link up does not wait, unless a manager
// that had the link restarts.
void configure_links(const Inputs& in, Draft& draft);
// Whether udev is done with the name of the adapter's interface, or its time is over; if not, plans
// a look for that time.
[[nodiscard]] bool udev_is_done(const Inputs& in, const Adapter& adapter, Draft& draft);
// True where the link is up with all its configured addresses, and the addresses can be used.
[[nodiscard]] bool link_is_complete(const Config& config, const Adapter& adapter);

// Rules 5 and 6: the reload for a port that is still down after the time to settle, and the reload
// that the configuration or an administrator asks for.
//
// The driver is not taken away unless it is known that no adapter has a holder. With several
// adapters no unbind is local (a leaving adapter takes the netdevs of the others away, Linux 6.1
// and 6.12), so the driver is reloaded for all of them. The link is never taken down and up: no
// case is known in which that mends a port.
void climb_ladder(const Inputs& in, Draft& draft);

}  // namespace pvrdma
