#include "agent/plan/rules.hpp"

#include <algorithm>

#include "agent/model/budget.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/order.hpp"
#include "agent/plan/trying.hpp"

namespace pvrdma {

namespace {

// True where the module is there or on its way; false where it is to be loaded or cannot be.
bool present(const Module& module) { return !module.init.is_absent(); }

// What a function that has just lost its driver is left alone for. On a hot-removal the driver goes
// a moment before the function does, and a probe in between can leave the kernel waiting for a
// netdev for ever: each adapter's notifier queues work that takes a reference to whatever netdev
// comes or goes (pvrdma_netdevice_event(), drivers/infiniband/hw/vmw_pvrdma/pvrdma_main.c,
// Linux 6.1).
constexpr Milliseconds kLeaving{1000};

// A predecessor that the driver need not be kept waiting for: there, or out of reach.
bool out_of_the_way(const Inputs& in, const std::string& name) {
  const Module* module = in.snapshot.module(name);
  if (module == nullptr || module->shipped.is(Shipped::Missing) || is_live(in.snapshot, name))
    return true;
  const Allowance budget = allowance(in.snapshot.ledger, {Verb::LoadModule}, name, gentle_pauses(),
                                     in.history.fresh_start, in.now, Success::CountsWhileRecent);
  // One failed try is enough to go on without an optional module; retries come later.
  return budget.tries > 0 && budget.last->finished.has_value();
}

}  // namespace

void load_predecessors(const Inputs& in, Draft& draft) {
  for (const std::string& name : predecessors(in.config)) {
    const Module* module = in.snapshot.module(name);
    if (module == nullptr || present(*module)) continue;
    if (module->shipped.is(Shipped::Missing)) {
      draft.find(findings::module_not_shipped(name, in.snapshot, is_required(in.config, name)));
      continue;
    }
    try_within_budget(in, draft, LoadModule{name}, name + " must be loaded before vmw_pvrdma", {});
  }
}

void load_driver(const Inputs& in, Draft& draft) {
  const Module* driver = in.snapshot.module(kDriverModule);
  if (driver == nullptr || present(*driver)) return;
  if (driver->shipped.is(Shipped::Missing)) {
    draft.find(findings::driver_not_shipped(in.snapshot));
    return;
  }
  const std::vector<std::string> before = predecessors(in.config);
  if (!std::all_of(before.begin(), before.end(),
                   [&](const std::string& name) { return out_of_the_way(in, name); }))
    return;
  try_within_budget(in, draft, LoadModule{kDriverModule},
                    "vmw_pvrdma is not loaded, and all that must precede it is", {});
}

void bind_functions(const Inputs& in, Draft& draft) {
  if (!is_live(in.snapshot, kDriverModule)) return;
  for (const Adapter& adapter : *in.snapshot.adapters.get()) {
    if (adapter.net_driver.is_absent()) draft.find(findings::no_vmxnet3_pair(adapter));
    // The probe takes the netdev of function 0; without one it would only fail again.
    if (!adapter.driver.is_absent() || !adapter.netdev.is_known()) continue;
    const BootTime unbound = history_of(in, adapter).unbound;
    if (unbound != BootTime{} && in.now < unbound + kLeaving)
      draft.look_by(unbound + kLeaving);
    else
      try_within_budget(in, draft, BindFunction{adapter.function},
                        "vmw_pvrdma is live but not bound to " + adapter.function,
                        adapter.function);
  }
}

}  // namespace pvrdma
