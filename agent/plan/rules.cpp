// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/rules.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "agent/base/text.hpp"
#include "agent/model/attempt.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"

namespace pvrdma {

namespace {

// The pauses before the first, second, … try of a gentle operation.
constexpr std::array kGentlePauses{Milliseconds{0}, Milliseconds{2000}, Milliseconds{10'000},
                                   Milliseconds{60'000}, Milliseconds{300'000}};

Allowance gentle_budget(const Inputs& in, Verb verb, const std::string& target) {
  const std::string adapter = verb == Verb::LoadModule ? "" : target;
  return allowance(in.snapshot.ledger, {verb}, target, kGentlePauses,
                   fresh_start(in.history, adapter), in.now, in.history.started);
}

BootTime end_of_newest(const Ledger& ledger, Verb verb, const std::string& target) {
  BootTime newest{};
  for (const Attempt& attempt : ledger.attempts)
    if (attempt.verb == verb && attempt.target == target)
      newest = std::max(newest, end_of(attempt));
  return newest;
}

// True for the load of a module that the adapters do not need.
bool optional(const Config& config, const Operation& operation) {
  const auto* load = std::get_if<LoadModule>(&operation);
  return load != nullptr && !is_required(config, load->module);
}

// True where the module is loaded or is being loaded.
bool present(const Module& module) { return !module.init.is_absent(); }

// When a module that does not become live is no longer waited for: its init function may never
// return. The same for the driver, also where it does not leave the kernel.
BootTime patience_for_load(const Inputs& in, const std::string& module) {
  constexpr Milliseconds kPatience{60'000};
  const auto since = in.history.loading_since.find(module);
  return (since == in.history.loading_since.end() ? in.now : since->second) + kPatience;
}

// Reports a module that hangs in its init function. The driver goes on without it.
void report_hanging_load(const Inputs& in, Draft& draft, const Module& module) {
  if (!module.init.is(ModuleInit::Coming)) return;
  draft.find(overall(FindingId::ModuleRefused, {{"module", module.name}},
                     is_required(in.config, module.name) ? "loading-required" : "loading"));
}

// Reports a driver that hangs in its load or its removal, so that nothing can be done. A holder of
// a device cannot be the reason: the kernel refuses to begin a removal while there is one.
void report_hanging_driver(const Inputs& in, Draft& draft, const Module& driver) {
  const bool loads = driver.init.is(ModuleInit::Coming);
  if (!loads && !driver.init.is(ModuleInit::Going)) return;
  if (has_come(patience_for_load(in, driver.name), in, draft))
    draft.find(overall(FindingId::ModuleRefused, {{"module", driver.name}},
                       loads ? "driver-loads" : "driver-leaves"));
}

// How long a function that has just lost its driver is left alone. On a hot-removal the driver goes
// a moment before the function, and a probe in between can leave the kernel waiting for a netdev
// for ever: each adapter's notifier queues work that takes a reference to every netdev that comes
// or goes (pvrdma_netdevice_event(), drivers/infiniband/hw/vmw_pvrdma/pvrdma_main.c, Linux 6.1).
constexpr Milliseconds kLeaving{1000};

// Whether function 0 has a netdev, which the probe takes: without one the probe would only fail
// again. The probe takes it also from another network namespace, where no look here sees it; until
// the adapter has settled, vmxnet3 may be about to make it.
bool may_have_netdev(const Inputs& in, const Adapter& adapter, Draft& draft) {
  if (!adapter.netdev.is_absent()) return adapter.netdev.is_known();
  if (!adapter.net_driver.is(kNetModule)) return false;
  return has_settled(in, adapter, draft);
}

// Without such processes a release ends within the time for settling, or as soon as the device has
// let ten seconds pass for each command that it does not answer. Only the driver's refcount tells
// which: the kernel no longer lists the device with its processes. A driver that is built in has
// none.
void report_release(const Inputs& in, Draft& draft, const Adapter& adapter) {
  const Module* driver = in.snapshot.module(kDriverModule);
  const bool is_held = driver == nullptr || !driver->refcount.is(0);
  if (adapter.driver.is_absent() && adapter.rdma_device.is_known() && is_held &&
      has_settled(in, adapter, draft))
    draft.find(about(adapter, FindingId::DriverInUse, {{"function", adapter.function}}, "release"));
}

// Whether the driver need not wait for this predecessor: it is live, or cannot be loaded. Where
// both can be loaded now, the plan has the driver last.
bool out_of_the_way(const Inputs& in, const std::string& name) {
  const Module* module = in.snapshot.module(name);
  if (module == nullptr || module->shipped.is(Shipped::Missing) || module->blocked.is_known() ||
      is_live(in.snapshot, name) || (present(*module) && in.now >= patience_for_load(in, name)))
    return true;
  // Of a netdev that vmxnet3 registers while the driver probes, the driver may keep a reference for
  // ever, and the netdev's removal would then wait for ever.
  if (name == kNetModule && present(*module)) return false;
  const Allowance budget = gentle_budget(in, Verb::LoadModule, name);
  if (budget.refused != nullptr) return true;
  if (budget.tries == 0 || !budget.last->finished) return false;
  // After one failed try or one refusal the driver is loaded without the module; retries of the
  // module come later. A module that was loaded and removed again is loaded a second time first.
  return !worked(*budget.last) || budget.tries > 1;
}

// Most unreadable files of modprobe.d block nothing, so there is a finding only after a failed try.
void report_unknown_block(const Inputs& in, Draft& draft, const Module& module) {
  const Error* error = module.blocked.error();
  if (error == nullptr) return;
  const Allowance budget = gentle_budget(in, Verb::LoadModule, module.name);
  if (budget.refused != nullptr || budget.failure() != nullptr)
    draft.find(findings::block_unknown(module.name, *error));
}

}  // namespace

Afterwards slowly_if_failed(const Inputs& in, Verb verb, const std::string& target) {
  const auto& attempts = in.snapshot.ledger.attempts;
  const auto last = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
    return attempt.verb == verb && attempt.target == target;
  });
  const bool failed = last != attempts.rend() && last->finished && last->outcome == Outcome::Failed;
  return failed ? Afterwards::TrySlowly : Afterwards::GiveUp;
}

void try_within_budget(const Inputs& in, Draft& draft, Operation operation, std::string reason,
                       std::optional<std::string> adapter, Afterwards afterwards) {
  const Allowance budget = gentle_budget(in, verb(operation), target(operation));
  if (const Attempt* failure = budget.failure())
    draft.find(findings::attempt_failed(*failure, adapter));
  if (budget.refused != nullptr) draft.find(findings::attempt_failed(*budget.refused, adapter));
  switch (budget.verdict) {
    case Allowance::Verdict::Now:
      draft.act(std::move(operation), std::move(reason));
      break;
    case Allowance::Verdict::Later:
      draft.look_by(budget.when);
      break;
    case Allowance::Verdict::GiveUp:
      if (afterwards == Afterwards::TrySlowly) {
        draft.find(findings::trying_slowly(describe(operation), budget.tries, std::move(adapter)));
        const BootTime next =
            end_of_newest(in.snapshot.ledger, verb(operation), target(operation)) + kSlowRetry;
        if (has_come(next, in, draft)) draft.act(std::move(operation), std::move(reason));
        break;
      }
      draft.find(findings::giving_up(describe(operation), budget.tries,
                                     optional(in.config, operation), std::move(adapter)));
      break;
  }
}

void load_predecessors(const Inputs& in, Draft& draft) {
  for (const std::string& name : predecessors(in.config)) {
    const Module* module = in.snapshot.module(name);
    if (module == nullptr || is_live(in.snapshot, name)) continue;
    if (present(*module)) {
      if (has_come(patience_for_load(in, name), in, draft)) report_hanging_load(in, draft, *module);
      continue;
    }
    if (module->shipped.is(Shipped::Missing)) {
      draft.find(findings::module_not_shipped(name, in.snapshot, is_required(in.config, name)));
      continue;
    }
    if (const std::string* how = module->blocked.get()) {
      draft.find(findings::module_blocked(name, *how, is_required(in.config, name)));
      continue;
    }
    report_unknown_block(in, draft, *module);
    try_within_budget(in, draft, LoadModule{name}, name + " must be loaded before vmw_pvrdma", {});
  }
}

bool predecessors_are_done(const Inputs& in) {
  return std::ranges::all_of(predecessors(in.config),
                             [&](const std::string& name) { return out_of_the_way(in, name); });
}

void load_driver(const Inputs& in, Draft& draft) {
  const Module* driver = in.snapshot.module(kDriverModule);
  if (driver == nullptr) return;
  if (present(*driver)) return report_hanging_driver(in, draft, *driver);
  if (driver->shipped.is(Shipped::Missing)) {
    draft.find(findings::driver_not_shipped(in.snapshot));
    return;
  }
  // No try helps until an administrator removes the block; the next look sees that.
  if (const std::string* how = driver->blocked.get())
    return draft.find(findings::module_blocked(kDriverModule, *how, true));
  report_unknown_block(in, draft, *driver);
  if (!predecessors_are_done(in)) return;
  try_within_budget(in, draft, LoadModule{kDriverModule},
                    "vmw_pvrdma is not loaded, and all that must precede it is", {},
                    slowly_if_failed(in, Verb::LoadModule, kDriverModule));
}

void bind_functions(const Inputs& in, Draft& draft) {
  if (!is_live(in.snapshot, kDriverModule)) return;
  for (const Adapter& adapter : *in.snapshot.adapters.get()) {
    // The kernel lists the functions of a new adapter before it binds them.
    if (adapter.net_driver.is_absent() && has_settled(in, adapter, draft))
      draft.find(about(adapter, FindingId::NoVmxnet3Pair, {{"function", adapter.net_function}}));
    report_release(in, draft, adapter);
    if (!is_unbound(adapter) || !may_have_netdev(in, adapter, draft)) continue;
    const BootTime unbound = history_of(in, adapter).unbound;
    if (unbound == BootTime{} || has_come(unbound + kLeaving, in, draft))
      try_within_budget(in, draft, BindFunction{adapter.function},
                        "vmw_pvrdma is live but not bound to " + adapter.function, adapter.function,
                        slowly_if_failed(in, Verb::BindFunction, adapter.function));
  }
}

}  // namespace pvrdma
