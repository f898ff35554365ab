#include "agent/plan/rules.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "agent/plan/budget.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/match.hpp"
#include "agent/plan/order.hpp"

namespace pvrdma {

namespace {

const std::vector<Milliseconds>& gentle_pauses() {
  static const std::vector<Milliseconds> pauses{Milliseconds{0}, Milliseconds{2000},
                                                Milliseconds{10'000}, Milliseconds{60'000},
                                                Milliseconds{300'000}};
  return pauses;
}

// True where the module is there or on its way; false where it is to be loaded or cannot be.
bool present(const Module& module) { return !module.init.is_absent(); }

bool required(const Config& config, const std::string& module) {
  const auto& names = config.modules.required;
  return module == kNetModule || std::find(names.begin(), names.end(), module) != names.end();
}

// A module the adapters work without.
bool optional(const Config& config, const Operation& operation) {
  const auto* load = std::get_if<LoadModule>(&operation);
  return load != nullptr && load->module != kDriverModule && !required(config, load->module);
}

// Acts if the budget for this verb and target allows it now; says so if it is used up.
void try_within_budget(const Inputs& in, Draft& draft, Operation operation, std::string reason,
                       std::optional<std::string> adapter) {
  const Allowance budget =
      allowance(in.snapshot.ledger, {verb(operation)}, target(operation), gentle_pauses(),
                in.history.fresh_start, in.now, Success::CountsWhileRecent);
  if (budget.last != nullptr && budget.last->finished && !worked(*budget.last))
    draft.find(findings::attempt_failed(*budget.last, adapter));
  switch (budget.verdict) {
    case Allowance::Verdict::Now:
      draft.act(std::move(operation), std::move(reason));
      break;
    case Allowance::Verdict::Later:
      draft.look_by(budget.when);
      break;
    case Allowance::Verdict::GiveUp:
      draft.find(
          findings::giving_up(describe(operation), budget.tries,
                              optional(in.config, operation) ? Severity::Warning : Severity::Error,
                              std::move(adapter)));
      break;
  }
}

// A predecessor that the driver need not be kept waiting for: there, or out of reach.
bool out_of_the_way(const Inputs& in, const std::string& name) {
  const Module* module = in.snapshot.module(name);
  if (module == nullptr || module->shipped.is(Shipped::Missing) || is_live(in.snapshot, name))
    return true;
  const Allowance budget = allowance(in.snapshot.ledger, {"LoadModule"}, name, gentle_pauses(),
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
      draft.find(findings::module_not_shipped(name, in.snapshot, required(in.config, name)));
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
    if (adapter.driver.is_absent() && adapter.netdev.is_known())
      try_within_budget(in, draft, BindFunction{adapter.function},
                        "vmw_pvrdma is live but not bound to " + adapter.function,
                        adapter.function);
  }
}

void configure_links(const Inputs& in, Draft& draft) {
  for (const Adapter& adapter : *in.snapshot.adapters.get()) {
    const Netdev* netdev = adapter.netdev.get();
    if (netdev == nullptr) continue;
    const AdapterConfig* wanted = config_of(in.config, adapter);
    if (wanted != nullptr) findings::compare_link(*wanted, adapter, *netdev, draft);
    if (netdev->up) continue;
    if (!link_is_ours(in.config, adapter)) {
      draft.find(findings::link_down_not_ours(adapter, *netdev));
      continue;
    }
    if (!is_live(in.snapshot, kDriverModule) || !adapter.driver.is_known()) continue;
    // udev cannot rename a link that is up (EBUSY), so it has its turn first, but not for ever.
    const auto seen = in.history.adapters.find(adapter.function);
    const BootTime patience =
        (seen == in.history.adapters.end() ? in.now : seen->second.changed) + 3 * kSettle;
    if (!netdev->settled.is(true) && in.now < patience) {
      draft.look_by(patience);
      continue;
    }
    try_within_budget(in, draft, ConfigureLink{adapter.function, netdev->name, {}, {}},
                      "the link of " + netdev->name + " is down, and the port follows it",
                      adapter.function);
  }
}

}  // namespace pvrdma
