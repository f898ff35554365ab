// SPDX-License-Identifier: GPL-2.0-or-later
// The planner's rules: what each reads (Inputs), what it adds to (Draft), and what it is for.
// planner.cpp asks them in this order.
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

// What becomes of something gentle once its budget is used up.
enum class Afterwards {
  GiveUp,  // until something changes
  // Also tried again every ten minutes, for ever: what stands in the way is outside of this
  // machine, and its end is no change that can be seen here.
  TrySlowly,
};

// Something gentle, which harms nobody: acts if the budget for this verb and target allows it now,
// and says so if it fails, the executor refuses it, or the budget is used up.
void try_within_budget(const Inputs& in, Draft& draft, Operation operation, std::string reason,
                       std::optional<std::string> adapter,
                       Afterwards afterwards = Afterwards::GiveUp);

// Waiting for what makes a fresh clone the machine it is to be (probes/customization.hpp). Modules
// are loaded, functions bound and links brought up meanwhile: none of it depends on who the machine
// is. Addresses and MTU wait, as what is configured now may be the template's; for a bounded time,
// as a customization that hangs must not keep an adapter down for ever. What cannot be read is
// waited for like what is known to be under way.
[[nodiscard]] bool awaits_customization(const Inputs& in);
// Says what is waited for, or no longer waited for.
void report_customization(const Inputs& in, Draft& draft);

// What is wrong with the networks of the adapters, whoever has configured them: findings, no
// actions. Two adapters in one subnet, a default route over an adapter, an address outside the
// subnets that are configured for it.
void check_networks(const Inputs& in, Draft& draft);

// Rules 1 to 3 take nothing away from anybody. Rule 1: vmxnet3 and the modules that must precede
// vmw_pvrdma.
void load_predecessors(const Inputs& in, Draft& draft);

// Rule 2: vmw_pvrdma, last.
void load_driver(const Inputs& in, Draft& draft);

// Rule 3: a function whose probe failed.
void bind_functions(const Inputs& in, Draft& draft);

// Rule 4: the adapters' links, up and as configured where they are ours, and compared where they
// are a network manager's.
//
// Never before vmw_pvrdma is live: on Linux 6.1 and 6.12 a link that comes up while the driver
// probes is a kernel oops (agent/executor/event_queue.hpp). Where the configuration says
// manage = "auto", MTU and addresses wait until no network manager is left that may take the link,
// or for a minute, and in any case until nothing customizes the VM; being up does not, but where
// one that had the link starts anew.
void configure_links(const Inputs& in, Draft& draft);
// Whether udev will not rename the adapter's interface any more, or has had its time; else the
// adapter is looked at again then.
[[nodiscard]] bool udev_is_done(const Inputs& in, const Adapter& adapter, Draft& draft);
// True where the link has all that the configuration gives it, and the addresses can be used.
[[nodiscard]] bool link_is_complete(const Config& config, const Adapter& adapter);

// Rules 5 and 6: what is done for a port that does not come up once it has had time to settle, and
// the reload that the configuration or an administrator asks for.
//
// Guards: the driver is not taken away unless it is known that nobody holds any adapter. With
// several adapters no unbind is local (a leaving one takes its neighbours' netdevs away, Linux 6.1
// and 6.12), so it is a reload for all of them. Taking the link down and up is no remedy: no port
// is known that it mends.
void climb_ladder(const Inputs& in, Draft& draft);

}  // namespace pvrdma
