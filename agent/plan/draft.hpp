// What every rule reads (Inputs), and what it adds to (Draft).
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

}  // namespace pvrdma
