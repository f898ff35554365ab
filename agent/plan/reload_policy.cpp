// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/reload_policy.hpp"

#include <algorithm>
#include <array>

#include "agent/model/attempt.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"

namespace pvrdma {

namespace {

constexpr std::array kPauses{Milliseconds{0}, Milliseconds{30'000}, Milliseconds{120'000}};

// The budget of reloads for this adapter; empty: for all. Each reload counts for each adapter.
Allowance reload_budget(const Inputs& in, const std::string& adapter) {
  return allowance(in.snapshot.ledger, {Verb::ReloadDriver, Verb::RebindFunction}, {}, kPauses,
                   fresh_start(in.history, adapter), in.now, std::nullopt);
}

// A port that the host takes down and up again is a fresh start each time, but must not cause a
// reload each time. So the pause doubles with every reload in the last ten minutes.
BootTime next_allowed_after_backoff(const Inputs& in) {
  constexpr Milliseconds kFirstPause{30'000};
  constexpr int kMostDoublings = 4;
  BootTime last{};
  int recent = 0;
  for (const Attempt& attempt : in.snapshot.ledger.attempts) {
    if (!takes_driver_away(attempt.verb)) continue;
    if (attempt.finished && attempt.outcome != Outcome::Done) continue;
    if (end_of(attempt) + kReloadWindow < in.now) continue;
    last = std::max(last, end_of(attempt));
    ++recent;
  }
  return recent == 0 ? last : last + kFirstPause * (1 << std::min(recent - 1, kMostDoublings));
}

// The verdict where budget, pauses or the executor's limit forbid a reload now, or for good; none:
// they allow it.
std::optional<ReloadVerdict> not_its_turn(const Inputs& in, ReloadCause cause,
                                          const std::string& adapter) {
  if (cause == ReloadCause::Requested) return std::nullopt;
  const Ledger& ledger = in.snapshot.ledger;
  if (cause == ReloadCause::OncePerBoot && ledger.reloads + ledger.rebinds > 0)
    return ReloadVerdict{};
  const Allowance budget = reload_budget(in, adapter);
  if (budget.verdict == Allowance::Verdict::Later) return ReloadVerdict{{}, {}, budget.when};
  if (budget.verdict == Allowance::Verdict::GiveUp) {
    const bool once = cause == ReloadCause::OncePerBoot;  // the adapters may work without it
    return ReloadVerdict{{},
                         findings::giving_up("ReloadDriver", budget.tries, once,
                                             once ? findings::MaybeAdapter{} : adapter),
                         {}};
  }
  if (cause == ReloadCause::PortDown)
    if (const BootTime earliest = next_allowed_after_backoff(in); earliest > in.now)
      return ReloadVerdict{{}, {}, earliest};
  if (const auto until = limited_until(ledger, ReloadDriver{}, in.now))
    return ReloadVerdict{{}, {}, until};
  return std::nullopt;
}

// Whether a reload would take the RDMA device out of another network namespace, such as a
// container's, whose programs may be about to open it. This does not depend on where the interface
// is.
bool is_elsewhere(const Adapter& adapter) {
  return adapter.driver.is(kDriverModule) && adapter.rdma_device.is_absent();
}

// The first reason against a reload; none: there is none.
std::optional<Finding> objection(const Inputs& in, const Module& driver, const std::string& why) {
  if (in.config.modules.reload == ReloadPolicy::Never)
    return overall(FindingId::ReloadForbidden, {{"reason", why}});
  if (const auto& error = in.snapshot.ledger_error)
    return overall(FindingId::LedgerUnusable, {{"reason", why}, {"error", error->message()}});
  // The script checks nothing before it unloads the driver, so the agent waits for the script to
  // end.
  if (const BootScript* script = unfinished(in.snapshot.boot_scripts))
    return overall(FindingId::ReloadWaits, {{"reason", why}, {"script", script->path}});
  if (const auto& error = in.snapshot.boot_scripts_error)
    return overall(FindingId::ReloadWaits, {{"reason", why}, {"error", error->message()}},
                   "unknown");
  for (const Adapter& adapter : *in.snapshot.adapters.get())
    if (is_elsewhere(adapter))
      return overall(FindingId::HoldersUnknown,
                     {{"reason", why},
                      {"error", "the RDMA device of " + adapter.function +
                                    " is in another network namespace"}});
  const auto* holders = in.snapshot.holders.get();
  if (holders == nullptr) return findings::holders_unknown(in.snapshot, why);
  if (!holders->empty()) return findings::driver_in_use(*holders, why);
  // A driver that is built in has no refcount.
  if (driver.refcount.is_absent() && driver.init.is(ModuleInit::BuiltIn)) return std::nullopt;
  const unsigned* refcount = driver.refcount.get();
  if (refcount == nullptr) return findings::holders_unknown(in.snapshot, why);
  if (*refcount > 0) return findings::driver_in_use({}, why);
  return std::nullopt;
}

}  // namespace

ReloadVerdict may_reload(const Inputs& in, ReloadCause cause, const std::string& why,
                         const std::string& adapter) {
  const Module* driver = in.snapshot.module(kDriverModule);
  const auto* adapters = in.snapshot.adapters.get();
  if (driver == nullptr || !is_live(*driver) || adapters == nullptr) return {};
  // During a requested reload the load itself raises the refcount; that is not a holder.
  if (cause == ReloadCause::Requested && in.history.busy) return {};
  if (auto other = not_its_turn(in, cause, adapter)) return *other;
  if (auto refusal = objection(in, *driver, why)) return {{}, std::move(refusal), {}};
  if (!driver->init.is(ModuleInit::BuiltIn)) return {ReloadDriver{}, {}, {}};
  // An unbind takes the netdevs of the other adapters away.
  if (adapters->size() > 1) return {{}, overall(FindingId::DriverBuiltIn, {{"reason", why}}), {}};
  if (adapters->empty() || !adapters->front().driver.is(kDriverModule)) return {};
  return {RebindFunction{adapters->front().function}, {}, {}};
}

std::optional<Finding> executor_refusal(const Inputs& in, const std::string& adapter) {
  // Above the limit the plan waits, and where the ledger cannot count there is a finding already.
  if (in.snapshot.ledger_error || limited_until(in.snapshot.ledger, ReloadDriver{}, in.now))
    return std::nullopt;
  const Allowance budget = reload_budget(in, adapter);
  const Attempt* said = budget.refused != nullptr ? budget.refused : budget.failure();
  if (said == nullptr) return std::nullopt;
  return findings::attempt_failed(*said, {});
}

bool reload_cannot_help(const Inputs& in, const std::string& adapter) {
  return in.config.modules.reload == ReloadPolicy::Never || reload_budget(in, adapter).tries > 0 ||
         next_allowed_after_backoff(in) > in.now;
}

}  // namespace pvrdma
