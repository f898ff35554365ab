// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshots for the planner's tests: a healthy machine, which the test changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/plan/history.hpp"
#include "agent/plan/planner.hpp"

namespace pvrdma::test {

inline constexpr BootTime kNow{Milliseconds{100'000}};

inline std::string function_of(unsigned index) {
  return "0000:00:1" + std::to_string(index) + ".1";
}

inline Module loaded(const std::string& name, unsigned order) {
  return {name, ModuleInit::Live, 0U, order, Shipped::Loadable};
}
inline Module unloaded(const std::string& name) {
  return {name, Field<ModuleInit>::absent(), {}, {}, Shipped::Loadable};
}

inline Adapter ready_adapter(unsigned index) {
  Adapter adapter;
  adapter.function = function_of(index);
  adapter.net_function = "0000:00:1" + std::to_string(index) + ".0";
  adapter.driver = std::string{kDriverModule};
  adapter.net_driver = std::string{kNetModule};
  Netdev netdev;
  netdev.name = "ens1" + std::to_string(index);
  netdev.index = static_cast<int>(index) + 2;
  netdev.mac = "00:50:56:00:00:1" + std::to_string(index);
  netdev.mtu = 1500;
  netdev.link_up = true;
  netdev.carrier = true;
  netdev.operstate = "up";
  netdev.settled = true;
  adapter.netdev = netdev;
  RdmaDevice rdma;
  rdma.name = "rocep0s1" + std::to_string(index) + "f1";
  rdma.uverbs = "uverbs" + std::to_string(index);
  rdma.netdev = netdev.name;
  rdma.port.state = PortState::Active;
  rdma.port.phys_state = PhysState::LinkUp;
  adapter.rdma_device = rdma;
  return adapter;
}

// `count` ready adapters, all modules loaded in the right order, and no holder.
inline Snapshot ready_scene(unsigned count = 1) {
  Snapshot snapshot;
  snapshot.taken_at = kNow;
  snapshot.kernel = std::string{"6.1.0-test"};
  unsigned order = 0;
  for (const char* name : {"vmxnet3", "mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm", "vmw_pvrdma"})
    snapshot.modules.push_back(loaded(name, order++));
  std::vector<Adapter> adapters;
  for (unsigned i = 0; i < count; ++i) adapters.push_back(ready_adapter(i));
  snapshot.adapters = adapters;
  snapshot.holders = std::vector<Holder>{};
  return snapshot;
}

inline Module& module(Snapshot& snapshot, const std::string& name) {
  for (Module& module : snapshot.modules)
    if (module.name == name) return module;
  throw std::logic_error("no module " + name);
}
inline Adapter& adapter(Snapshot& snapshot, unsigned index = 0) {
  return snapshot.adapters.get()->at(index);
}
inline Netdev& netdev(Snapshot& snapshot, unsigned index = 0) {
  return *adapter(snapshot, index).netdev.get();
}
inline RdmaDevice& rdma(Snapshot& snapshot, unsigned index = 0) {
  return *adapter(snapshot, index).rdma_device.get();
}

// A history without any change for a long time.
inline History long_settled(const Snapshot& snapshot) {
  History history;
  for (const Adapter& adapter : *snapshot.adapters.get())
    history.adapters[adapter.function].read = std::make_shared<const Adapter>(adapter);
  return history;
}

inline Attempt attempt(Verb verb, std::string target, Milliseconds ago,
                       Outcome outcome = Outcome::Done) {
  return {verb,       std::move(target), kNow - ago,
          kNow - ago, outcome,           outcome == Outcome::Done ? "" : "it did not work"};
}

inline std::vector<std::string> described(const Plan& plan) {
  std::vector<std::string> list;
  for (const Action& action : plan.actions) list.push_back(describe(action.operation));
  return list;
}

inline const Finding* finding(const std::vector<Finding>& findings, FindingId id) {
  for (const Finding& finding : findings)
    if (finding.id == id) return &finding;
  return nullptr;
}

inline Plan plan_settled(const Snapshot& snapshot, const Config& config = {}) {
  return plan(config, snapshot, long_settled(snapshot), kNow);
}

// pass_line() of ready_scene() without actions.
inline const std::string kReadyLine =
    "vmw_pvrdma live; 0000:00:10.1: driver vmw_pvrdma, netdev ens10 up, carrier, "
    "rocep0s10f1 port ACTIVE; nothing to do";

inline Plan plan_to_reload() {
  Plan plan;
  plan.actions.push_back({ReloadDriver{}, "the port stays down"});
  return plan;
}

using Steps = std::vector<std::string>;

}  // namespace pvrdma::test
