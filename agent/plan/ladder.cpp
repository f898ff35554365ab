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

// When kSettle has passed since the adapter changed and since the last operation on it.
BootTime settled_at(const Inputs& in, const Adapter& adapter) {
  BootTime last = history_of(in, adapter).changed;
  for (const Attempt& attempt : in.snapshot.ledger.attempts)
    if (attempt.verb != Verb::LoadModule || attempt.target == kDriverModule)
      last = std::max(last, end_of(attempt));
  return last + kSettle;
}

// Another adapter was unbound or removed since the last reload, so this one has lost its netdev. A
// reload cures that.
bool has_lost_netdev(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma_device.get();
  return rdma != nullptr && rdma->netdev.is_absent();
}

// For an adapter for which is_broken() is true.
std::string what_is_wrong(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma_device.get();
  if (rdma->netdev.is_absent()) return "the driver has lost the netdev of " + rdma->name;
  return "the port of " + rdma->name + " is " + word_or(rdma->port.state, "unreadable") +
         " though its link and carrier are up";
}

std::string reason_to_reload(const Inputs& in, const Adapter& adapter) {
  const auto order_of = [&](const std::string& name) -> const unsigned* {
    const Module* module = in.snapshot.module(name);
    return module != nullptr ? module->load_order.get() : nullptr;
  };
  if (const unsigned* driver = order_of(kDriverModule))
    for (const std::string& name : predecessors(in.config))
      if (const unsigned* order = order_of(name); order != nullptr && *order > *driver)
        return what_is_wrong(adapter) + ", and vmw_pvrdma was loaded before " + name;
  return what_is_wrong(adapter);
}

bool has_carrier(const Adapter& adapter) {
  const Netdev* netdev = adapter.netdev.get();
  return netdev != nullptr && netdev->link_up && netdev->carrier.is(true);
}

// Whether rule 5 has to act for this adapter now, or once it has settled, while the driver is live.
bool is_broken(const Adapter& adapter) {
  if (!adapter.driver.is(kDriverModule)) return false;
  // A bound function has an RDMA device. A device that is not visible is in another network
  // namespace (ib_core's netns_mode=0), such as a container's, and a reload would take it out of
  // there.
  const RdmaDevice* rdma = adapter.rdma_device.get();
  if (rdma == nullptr || !has_carrier(adapter)) return false;
  return rdma->netdev.is_absent() ||
         (rdma->port.state.is_known() && !rdma->port.state.is(PortState::Active));
}

// Whether the first of two broken adapters has the better reason for a reload: a lost netdev, or
// fewer reloads in vain.
bool comes_first(const Inputs& in, const Adapter& one, const Adapter& other) {
  if (has_lost_netdev(one) != has_lost_netdev(other)) return has_lost_netdev(one);
  return fresh_start(in.history, one.function) > fresh_start(in.history, other.function);
}

// Reports a broken adapter, which a reload may not help or may not be allowed for now.
void report_broken(const Inputs& in, Draft& draft, const Adapter& adapter) {
  if (has_lost_netdev(adapter))
    draft.find(findings::netdev_lost(adapter));
  else if (reload_cannot_help(in, adapter.function))
    draft.find(findings::port_down(adapter));
}

bool has_given_up(const ReloadVerdict& verdict) {
  return verdict.refusal && verdict.refusal->id == FindingId::GivingUp;
}

// Plans the operation that the policy grants, else adds the finding that says why not, the policy's
// or the executor's. True where an operation is planned.
bool reload_if_granted(const Inputs& in, Draft& draft, const ReloadVerdict& verdict,
                       const std::string& why, const std::string& adapter = {}) {
  if (verdict.refusal) draft.find(*verdict.refusal);
  if (verdict.granted || verdict.until || has_given_up(verdict))
    if (auto refusal = executor_refusal(in, adapter)) draft.find(std::move(*refusal));
  if (verdict.until) draft.look_by(*verdict.until);
  if (verdict.granted) draft.act(*verdict.granted, why);
  return verdict.granted.has_value();
}

// The reload of a configuration with modules.reload = "always". True where it is planned.
bool reload_once_per_boot(const Inputs& in, Draft& draft) {
  if (in.config.modules.reload != ReloadPolicy::Always) return false;
  const std::string why = "modules.reload is \"always\": once per boot";
  return reload_if_granted(in, draft, may_reload(in, ReloadCause::OncePerBoot, why), why);
}

// The broken adapters that have settled, in the order of their reasons for a reload.
std::vector<const Adapter*> settled_and_broken(const Inputs& in, Draft& draft) {
  std::vector<const Adapter*> found;
  for (const Adapter& adapter : *in.snapshot.adapters.get()) {
    if (!is_broken(adapter)) continue;
    if (const BootTime settled = settled_at(in, adapter); in.now < settled)
      draft.look_by(settled);
    else
      found.push_back(&adapter);
  }
  std::ranges::stable_sort(found, [&](const Adapter* one, const Adapter* other) {
    return comes_first(in, *one, *other);
  });
  return found;
}

}  // namespace

void climb_ladder(const Inputs& in, Draft& draft) {
  // Gentler operations come first.
  if (!draft.plan.actions.empty() || !is_live(in.snapshot, kDriverModule)) return;
  if (in.history.reload_asked && reload_if_granted(in, draft, requested_reload(in), kRequested))
    return;
  // While a predecessor is missing, a reload that only the agent wants would come too early.
  const bool may_reload_now = predecessors_are_done(in);
  if (!in.history.reload_asked && may_reload_now && reload_once_per_boot(in, draft)) return;
  const auto broken = settled_and_broken(in, draft);
  for (const Adapter* adapter : broken) report_broken(in, draft, *adapter);
  if (!may_reload_now) return;
  // The reason is that of one adapter, but the reload affects all of them. An adapter for which
  // the agent has given up does not keep the others from their reload.
  for (const Adapter* adapter : broken) {
    const ReloadCause cause =
        has_lost_netdev(*adapter) ? ReloadCause::NetdevLost : ReloadCause::PortDown;
    const std::string why = reason_to_reload(in, *adapter);
    const ReloadVerdict verdict = may_reload(in, cause, why, adapter->function);
    reload_if_granted(in, draft, verdict, why, adapter->function);
    if (!has_given_up(verdict)) return;
  }
}

}  // namespace pvrdma
