// SPDX-License-Identifier: GPL-2.0-or-later
// A model of the kernel for the planner's property tests: modules, probes, pairing and ports behave
// as on the real driver (Linux 6.1 and 6.12); time passes only when the test says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/plan/scene.hpp"

namespace pvrdma::test {

struct ModelAdapter {
  bool bound = false;
  bool paired = false;  // the driver knows its netdev
  bool up = false;
  bool host_holds_down = false;
  bool needs_right_order = false;  // ACTIVE only when vmw_pvrdma is the youngest module
  bool needs_reload = false;       // ACTIVE only after vmw_pvrdma was reloaded, whatever the order
  bool held = false;               // a process has a verbs context
  unsigned mtu = 1500;
  std::vector<LinkAddress> addresses;
};

class KernelModel {
 public:
  std::vector<std::string> modules;  // loaded, the oldest first
  std::vector<std::string> missing;  // not shipped
  std::vector<ModelAdapter> adapters;
  BootTime now{Milliseconds{1000}};
  Ledger ledger;
  bool harmed = false;  // a process that held an adapter was disturbed

  [[nodiscard]] bool loaded(const std::string& name) const;
  [[nodiscard]] Snapshot snapshot() const;
  void apply(const Operation& operation);

 private:
  [[nodiscard]] bool active(const ModelAdapter& adapter) const;
  [[nodiscard]] bool anybody_holds() const;
  ModelAdapter& at(const std::string& function);
  void probe_all();
  void load(const std::string& name);
};

// Runs one pass after the other until the plan is empty or `limit` has passed. Returns the last
// verdict and the number of actions.
struct Run {
  Health health;
  Plan plan;
  unsigned actions = 0;
};
[[nodiscard]] Run run(KernelModel& kernel, const Config& config, History& history,
                      Milliseconds limit);

}  // namespace pvrdma::test
