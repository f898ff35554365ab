#include "agent/plan/ladder.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/model/budget.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/match.hpp"
#include "agent/plan/order.hpp"

namespace pvrdma {

namespace {

const std::vector<Milliseconds>& bounce_pauses() {
  static const std::vector<Milliseconds> pauses{Milliseconds{0}};
  return pauses;
}

const std::vector<Milliseconds>& reload_pauses() {
  static const std::vector<Milliseconds> pauses{Milliseconds{0}, Milliseconds{30'000},
                                                Milliseconds{120'000}};
  return pauses;
}

// A port that the host takes down and up again looks like a fresh start each time; the driver is
// still not reloaded each time. Doubles with every reload of the last ten minutes.
BootTime spaced_out(const Inputs& in) {
  constexpr Milliseconds kWindow{600'000};
  constexpr Milliseconds kFirstPause{30'000};
  constexpr int kMostDoublings = 4;
  BootTime last{};
  int recent = 0;
  for (const Attempt& attempt : in.snapshot.ledger.attempts) {
    if (attempt.verb != "ReloadDriver" && attempt.verb != "RebindFunction") continue;
    const BootTime ended = attempt.finished.value_or(attempt.started);
    if (attempt.finished && attempt.outcome != Outcome::Done) continue;
    if (ended + kWindow < in.now) continue;
    last = std::max(last, ended);
    ++recent;
  }
  return recent == 0 ? last : last + kFirstPause * (1 << std::min(recent - 1, kMostDoublings));
}

// Whether the driver may be taken away now, and if not, the finding that says why.
struct Clearance {
  bool granted = false;
  std::optional<Finding> refusal;
};

Clearance clearance(const Inputs& in, const std::string& why) {
  if (in.config.modules.reload == ReloadPolicy::Never)
    return {false, findings::reload_forbidden(why)};
  if (const auto& error = in.snapshot.ledger_error)
    return {false, findings::ledger_unusable(*error, why)};
  // Two that unload the same driver: the script, which looks at nothing, goes first.
  if (const BootScript* script = unfinished(in.snapshot.boot_scripts))
    return {false, findings::reload_waits(*script, why)};
  const Module* driver = in.snapshot.module(kDriverModule);
  if (driver == nullptr) return {};
  const auto* holders = in.snapshot.holders.get();
  if (holders == nullptr) return {false, findings::holders_unknown(in.snapshot, why)};
  if (!holders->empty()) return {false, findings::driver_in_use(*holders, why)};
  if (driver->init.is(ModuleInit::BuiltIn)) return {true, {}};
  const unsigned* refcount = driver->refcount.get();
  if (refcount == nullptr) return {false, findings::holders_unknown(in.snapshot, why)};
  if (*refcount > 0) return {false, findings::driver_in_use({}, why)};
  return {true, {}};
}

// Plans the reload, or the rebind where the driver is built in and has one function only.
void take_driver_away(const Inputs& in, Draft& draft, const std::string& why) {
  const Clearance cleared = clearance(in, why);
  if (cleared.refusal) draft.find(*cleared.refusal);
  if (!cleared.granted) return;
  const auto& adapters = *in.snapshot.adapters.get();
  if (!in.snapshot.module(kDriverModule)->init.is(ModuleInit::BuiltIn))
    draft.act(ReloadDriver{}, why);
  else if (adapters.size() == 1)
    draft.act(RebindFunction{adapters.front().function}, why);
  else
    draft.find(findings::driver_built_in(why));
}

// When the adapter, and whatever was last done to it, has had its time.
BootTime settled_at(const Inputs& in, const Adapter& adapter) {
  BootTime last = history_of(in, adapter).changed;
  for (const Attempt& attempt : in.snapshot.ledger.attempts)
    if (attempt.verb != "LoadModule" || attempt.target == kDriverModule)
      last = std::max(last, attempt.finished.value_or(attempt.started));
  return last + kSettle;
}

// A reload surely cures it, and somebody has unbound or removed an adapter since the last one.
bool has_lost_netdev(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma.get();
  return rdma != nullptr && rdma->netdev.is_absent();
}

std::string what_is_wrong(const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma.get();
  if (rdma == nullptr) return adapter.function + " is bound but has no RDMA device";
  if (rdma->netdev.is_absent()) return "the driver has lost the netdev of " + rdma->name;
  return "the port of " + rdma->name + " is " + rdma->port.state.value_or("unreadable") +
         " though its link and carrier are up";
}

// Whether bouncing the link can help this adapter, and has not been tried yet.
bool bounce_is_next(const Inputs& in, const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma.get();
  // Link events no longer reach a device that lost its netdev.
  if (rdma == nullptr || rdma->netdev.is_absent()) return false;
  if (!link_is_ours(in.config, adapter) || !loaded_too_late(in.config, in.snapshot).empty())
    return false;
  return !is_held(in.snapshot, adapter) &&
         allowance(in.snapshot.ledger, {"BounceLink"}, adapter.function, bounce_pauses(),
                   in.history.fresh_start, in.now, Success::Counts)
                 .verdict == Allowance::Verdict::Now;
}

void bounce(const Inputs& in, Draft& draft, const Adapter& adapter) {
  BounceLink operation{adapter.function, adapter.netdev.get()->name};
  if (const auto& error = in.snapshot.ledger_error) {
    draft.find(findings::ledger_unusable(*error, what_is_wrong(adapter)));
  } else if (const auto until = limited_until(in.snapshot.ledger, operation, in.now)) {
    // It comes and goes by itself, and no rung of the ladder is against that.
    draft.find(findings::port_down(adapter));
    draft.look_by(*until);
  } else {
    draft.act(std::move(operation), what_is_wrong(adapter));
  }
}

std::string reason_to_reload(const Inputs& in, const Adapter& adapter) {
  const std::vector<std::string> late = loaded_too_late(in.config, in.snapshot);
  if (late.empty()) return what_is_wrong(adapter);
  return what_is_wrong(adapter) + ", and vmw_pvrdma was loaded before " + late.front();
}

// Whether the upper rungs may be tried once more, counted for all adapters together.
Allowance reload_budget(const Inputs& in) {
  return allowance(in.snapshot.ledger, {"ReloadDriver", "RebindFunction"}, {}, reload_pauses(),
                   in.history.fresh_start, in.now, Success::Counts);
}

// What can be said of an adapter for which no gentle rung is left.
void report_broken(const Inputs& in, Draft& draft, const Adapter& adapter) {
  const bool reload_cannot_help =
      in.config.modules.reload == ReloadPolicy::Never || reload_budget(in).tries > 0;
  if (has_lost_netdev(adapter))
    draft.find(findings::netdev_lost(adapter));
  else if (reload_cannot_help)
    draft.find(findings::port_down(adapter));
}

// The upper rungs for the first broken adapter that has settled; they reach all of them.
void reload_for(const Inputs& in, Draft& draft, const Adapter& adapter) {
  const Allowance budget = reload_budget(in);
  switch (budget.verdict) {
    case Allowance::Verdict::Now:
      if (const BootTime earliest = spaced_out(in); earliest > in.now && !has_lost_netdev(adapter))
        draft.look_by(earliest);
      else if (const auto until = limited_until(in.snapshot.ledger, ReloadDriver{}, in.now))
        draft.look_by(*until);
      else
        take_driver_away(in, draft, reason_to_reload(in, adapter));
      break;
    case Allowance::Verdict::Later:
      draft.look_by(budget.when);
      break;
    case Allowance::Verdict::GiveUp:
      draft.find(findings::giving_up("ReloadDriver", budget.tries, false, adapter.function));
      break;
  }
}

// The reloads that are due whatever the ports say. True where one of them is planned.
bool asked_for(const Inputs& in, Draft& draft) {
  if (in.history.reload_requested) {
    // While it is carried out the driver is used by its own load, which is nobody's holding it.
    if (!in.history.busy) take_driver_away(in, draft, "an administrator asked for it");
  } else if (in.config.modules.reload == ReloadPolicy::Always && in.snapshot.ledger.reloads == 0) {
    const Allowance budget = allowance(in.snapshot.ledger, {"ReloadDriver"}, {}, reload_pauses(),
                                       in.history.fresh_start, in.now, Success::Counts);
    if (budget.verdict == Allowance::Verdict::Now)
      take_driver_away(in, draft, "modules.reload is \"always\": once per boot");
    else if (budget.verdict == Allowance::Verdict::Later)
      draft.look_by(budget.when);
  }
  return !draft.plan.actions.empty();
}

}  // namespace

bool is_broken(const Snapshot& snapshot, const Adapter& adapter) {
  if (!is_live(snapshot, kDriverModule) || !adapter.driver.is(kDriverModule)) return false;
  if (adapter.rdma.is_absent()) return true;
  const Netdev* netdev = adapter.netdev.get();
  const RdmaDevice* rdma = adapter.rdma.get();
  if (netdev == nullptr || rdma == nullptr || !netdev->up || !netdev->carrier.is(true))
    return false;
  return rdma->netdev.is_absent() ||
         (rdma->port.state.is_known() && !rdma->port.state.is("ACTIVE"));
}

void climb_ladder(const Inputs& in, Draft& draft) {
  // What is gentler comes first; and while a predecessor is missing, a reload would come too early.
  if (!draft.plan.actions.empty() || !is_live(in.snapshot, kDriverModule)) return;
  if (asked_for(in, draft)) return;
  const Adapter* reload_due = nullptr;
  for (const Adapter& adapter : *in.snapshot.adapters.get()) {
    if (!is_broken(in.snapshot, adapter)) continue;
    const BootTime settled = settled_at(in, adapter);
    if (in.now < settled) {
      draft.look_by(settled);
    } else if (bounce_is_next(in, adapter)) {
      bounce(in, draft, adapter);
    } else {
      report_broken(in, draft, adapter);
      const bool first = reload_due == nullptr;
      if (first || (has_lost_netdev(adapter) && !has_lost_netdev(*reload_due)))
        reload_due = &adapter;
    }
  }
  // A bounce of one adapter may still be settling while another waits for the reload: one at a
  // time.
  if (reload_due != nullptr && draft.plan.actions.empty()) reload_for(in, draft, *reload_due);
}

}  // namespace pvrdma
