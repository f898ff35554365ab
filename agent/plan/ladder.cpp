// SPDX-License-Identifier: GPL-2.0-or-later
// Rules 5 and 6, the reloads. reload_policy decides whether the driver may be taken away.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"
#include "agent/plan/reload_policy.hpp"
#include "agent/plan/rules.hpp"

namespace pvrdma {

namespace {

// Whether the adapter may still change because of this attempt.
bool may_follow(const Attempt& attempt, const Adapter& adapter) {
  if (attempt.verb == Verb::LoadModule) return attempt.target == kDriverModule;
  // What a failed call did, but for a reload, was to its own adapter only, and counts as a change
  // of that one.
  if (attempt.finished && !worked(attempt) && !takes_driver_away(attempt.verb)) return false;
  return attempt.verb != Verb::ConfigureLink || attempt.target == adapter.function;
}

// When kSettle has passed since the adapter changed and since the last operation on it.
BootTime settled_at(const Inputs& in, const Adapter& adapter) {
  BootTime last = history_of(in, adapter).changed;
  for (const Attempt& attempt : in.snapshot.ledger.attempts)
    if (may_follow(attempt, adapter)) last = std::max(last, end_of(attempt));
  return last + kSettle;
}

// An adapter for which rule 5 has to act.
struct Broken {
  const Adapter* adapter;
  ReloadCause cause;
};

std::string what_is_wrong(const Broken& broken) {
  const RdmaDevice& rdma = *broken.adapter->rdma_device.get();
  if (broken.cause == ReloadCause::NetdevLost)
    return "the driver has lost the netdev of " + rdma.name;
  return "the port of " + rdma.name + " is " + to_string(*rdma.port.state.get()) +
         " though its link and carrier are up";
}

std::string reason_to_reload(const Inputs& in, const Broken& broken) {
  const auto order_of = [&](const std::string& name) -> const unsigned* {
    const Module* module = in.snapshot.module(name);
    return module != nullptr ? module->load_order.get() : nullptr;
  };
  if (const unsigned* driver = order_of(kDriverModule))
    for (const std::string& name : predecessors(in.config))
      if (const unsigned* order = order_of(name); order != nullptr && *order > *driver)
        return what_is_wrong(broken) + ", and vmw_pvrdma was loaded before " + name;
  return what_is_wrong(broken);
}

bool has_carrier(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return netdev != nullptr && netdev->link_up && netdev->carrier.is(true);
}

// Why rule 5 has to act for this adapter, now or once it has settled, while the driver is live.
std::optional<ReloadCause> fault_of(const Adapter& adapter) {
  if (!adapter.driver.is(kDriverModule)) return std::nullopt;
  // A bound function has an RDMA device. A device that is not visible is in another network
  // namespace (ib_core's netns_mode=0), such as a container's, and a reload would take it out of
  // there.
  const RdmaDevice* rdma = adapter.rdma_device.get();
  if (rdma == nullptr || !has_carrier(adapter)) return std::nullopt;
  // Another adapter was unbound or removed since the last reload, so this one has lost its netdev.
  // A reload cures that.
  if (rdma->netdev.is_absent()) return ReloadCause::NetdevLost;
  const auto& state = rdma->port.state;
  if (state.is_known() && !state.is(PortState::Active)) return ReloadCause::PortDown;
  return std::nullopt;
}

// Whether the first of two broken adapters has the better reason for a reload: a lost netdev, or
// fewer reloads in vain.
bool comes_first(const Inputs& in, const Broken& one, const Broken& other) {
  if (one.cause != other.cause) return one.cause == ReloadCause::NetdevLost;
  return fresh_start(in.history, one.adapter->function) >
         fresh_start(in.history, other.adapter->function);
}

bool reload_was_possible(const Inputs& in) {
  return in.config.modules.reload != ReloadPolicy::Never || in.snapshot.ledger.reloads > 0;
}

// Reports a broken adapter, which a reload may not help or may not be allowed for now.
void report_broken(const Inputs& in, Draft& draft, const Broken& broken) {
  if (broken.cause == ReloadCause::NetdevLost)
    draft.find(findings::netdev_lost(*broken.adapter));
  else if (reload_cannot_help(in, broken.adapter->function))
    draft.find(findings::port_down(*broken.adapter, reload_was_possible(in)));
}

bool has_given_up(const ReloadVerdict& verdict) {
  return verdict.refusal && verdict.refusal->id == FindingId::GivingUp;
}

// Plans the operation that the policy grants, else adds the finding that says why not, the policy's
// or the executor's. Gentler operations come first, but the findings stay meanwhile. True where an
// operation is granted.
bool reload_if_granted(const Inputs& in, Draft& draft, const ReloadVerdict& verdict,
                       const std::string& why, const std::string& adapter = {}) {
  if (verdict.refusal) draft.find(*verdict.refusal);
  if (verdict.granted || verdict.until || has_given_up(verdict))
    if (auto refusal = executor_refusal(in, adapter)) draft.find(std::move(*refusal));
  if (verdict.until) draft.look_by(*verdict.until);
  draft.plan.reload_follows = verdict.granted && !draft.plan.actions.empty();
  if (verdict.granted && draft.plan.actions.empty()) draft.act(*verdict.granted, why);
  return verdict.granted.has_value();
}

// The reload of a configuration with modules.reload = "always", unless an administrator asks for
// one. True where it is granted now.
bool reload_once_per_boot(const Inputs& in, Draft& draft, bool may_reload_now) {
  if (in.config.modules.reload != ReloadPolicy::Always || in.history.reload_asked) return false;
  const std::string why = "modules.reload is \"always\": once per boot";
  const ReloadVerdict verdict = may_reload(in, ReloadCause::OncePerBoot, why);
  if (may_reload_now) return reload_if_granted(in, draft, verdict, why);
  draft.plan.reload_follows = verdict.granted.has_value();
  return false;
}

// The broken adapters that have settled, in the order of their reasons for a reload.
std::vector<Broken> settled_and_broken(const Inputs& in, Draft& draft) {
  std::vector<Broken> found;
  for (const Adapter& adapter : *in.snapshot.adapters.get())
    if (const auto cause = fault_of(adapter); cause && has_come(settled_at(in, adapter), in, draft))
      found.push_back({&adapter, *cause});
  std::ranges::stable_sort(
      found, [&](const Broken& one, const Broken& other) { return comes_first(in, one, other); });
  return found;
}

}  // namespace

void climb_ladder(const Inputs& in, Draft& draft) {
  if (!is_live(in.snapshot, kDriverModule)) return;
  if (in.history.reload_asked && reload_if_granted(in, draft, requested_reload(in), kRequested))
    return;
  // While a predecessor is missing, a reload that only the agent wants would come too early.
  const bool may_reload_now = predecessors_are_done(in);
  if (reload_once_per_boot(in, draft, may_reload_now)) return;
  const auto broken = settled_and_broken(in, draft);
  for (const Broken& one : broken) report_broken(in, draft, one);
  if (!may_reload_now) return;
  // The reason is that of one adapter, but the reload affects all of them. An adapter for which
  // the agent has given up does not keep the others from their reload.
  for (const Broken& one : broken) {
    const std::string why = reason_to_reload(in, one);
    const std::string& function = one.adapter->function;
    const ReloadVerdict verdict = may_reload(in, one.cause, why, function);
    reload_if_granted(in, draft, verdict, why, function);
    if (!has_given_up(verdict)) return;
  }
}

}  // namespace pvrdma
