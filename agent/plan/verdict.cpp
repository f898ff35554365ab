// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict: Health from a Snapshot and its Plan.
#include "agent/plan/planner.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "agent/model/catalogue.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"
#include "agent/plan/rules.hpp"

namespace pvrdma {

namespace {

// True where there is no address that applications can use, or that address has its GID.
bool has_gid(const Config& config, const Adapter& adapter) {
  return application_address(config, adapter).empty() || application_gid(config, adapter);
}

// Where the MTU cannot be set, a finding says so.
bool has_mtu(const Config& config, const Adapter& adapter) {
  const auto& mtu = config_of(config, adapter).mtu;
  return !mtu || !link_is_ours(config, adapter) || *mtu == adapter.netdev.get()->mtu;
}

bool works(const Config& config, const Adapter& adapter) {
  const RdmaDevice* rdma = adapter.rdma_device.get();
  return adapter.driver.is(kDriverModule) && link_is_complete(config, adapter) && rdma != nullptr &&
         rdma->port.state.is(PortState::Active) && !rdma->netdev.is_absent() &&
         has_gid(config, adapter);
}

// The worst severity among the findings about this adapter, and what keeps it from being ready.
struct Burden {
  Severity worst = Severity::Info;
  bool is_blocked = false;  // by a cause that the agent cannot remove
  bool awaits_customization = false;
};

Burden burden_of(const Plan& plan, const std::string& function) {
  Burden burden;
  // While the agent does something for the adapter, only the lack of the executor blocks that.
  const bool is_served = std::ranges::any_of(
      plan.actions, [&](const Action& one) { return target(one.operation) == function; });
  for (const Finding& finding : plan.findings) {
    // A finding about one adapter blocks that one; a finding about the machine blocks all.
    const bool another = finding.adapter && finding.adapter != function;
    if (concerns(finding.id, Concern::Readiness) && !another &&
        (!is_served || finding.adapter || finding.id == FindingId::ExecutorMissing))
      burden.is_blocked = true;
    if (finding.id == FindingId::CustomizationAwaited) burden.awaits_customization = true;
    if (finding.adapter == function) burden.worst = std::max(burden.worst, finding.severity);
  }
  return burden;
}

// Whether there is a finding of this severity about the whole machine.
bool machine_has(const Plan& plan, Severity severity) {
  return std::any_of(plan.findings.begin(), plan.findings.end(), [&](const Finding& finding) {
    return !finding.adapter && finding.severity == severity;
  });
}

// Whether a reload or rebind is under way or comes next, which takes devices away in a moment.
// While the executor does not answer, none begins.
bool takes_devices(const Plan& plan, const History& history) {
  if (history.executor_missing || (history.busy && history.busy->stuck)) return false;
  return plan.reload_follows || (history.busy && takes_driver_away(history.busy->operation)) ||
         std::ranges::any_of(plan.actions,
                             [](const Action& one) { return takes_driver_away(one.operation); });
}

State adapter_state(const Config& config, const Snapshot& snapshot, const Plan& plan,
                    bool devices_leave, const Adapter& adapter) {
  const Burden burden = burden_of(plan, adapter.function);
  if (works(config, adapter)) {
    // The adapter works, but its final addresses and MTU may not be set yet.
    if (burden.awaits_customization || devices_leave) return State::Converging;
    if (burden.worst == Severity::Info && !has_mtu(config, adapter)) return State::Converging;
    // The port is ACTIVE already just before a load ends, and still during an unload.
    const Module* driver = snapshot.module(kDriverModule);
    if (driver != nullptr &&
        (driver->init.is(ModuleInit::Coming) || driver->init.is(ModuleInit::Going)))
      return State::Converging;
    // A carrier that could not be read does not count as one.
    const bool carrier = adapter.netdev.get()->carrier.is(true);
    return carrier && burden.worst == Severity::Info && is_live(snapshot, kDriverModule)
               ? State::Ready
               : State::Degraded;
  }
  if (burden.worst == Severity::Error) return State::Failed;
  if (machine_has(plan, Severity::Error) && !is_live(snapshot, kDriverModule)) return State::Failed;
  return burden.is_blocked ? State::Degraded : State::Converging;
}

State state_of(const Config& config, const Plan& plan, const std::vector<AdapterHealth>& adapters) {
  if (machine_has(plan, Severity::Error)) return State::Failed;
  // Where an adapter was removed, no adapter means degraded, not absent.
  if (adapters.empty()) {
    const auto is_lost = [](const Finding& finding) {
      return finding.id == FindingId::AdapterRemoved;
    };
    return std::any_of(plan.findings.begin(), plan.findings.end(), is_lost) ? State::Degraded
                                                                            : State::Absent;
  }
  const std::size_t ready = count(adapters, State::Ready);
  const std::size_t wanted =
      config.readiness.adapters.value_or(static_cast<unsigned>(adapters.size()));
  if (ready >= wanted) return machine_has(plan, Severity::Warning) ? State::Degraded : State::Ready;
  if (count(adapters, State::Converging) > 0) return State::Converging;
  const bool some_work = ready + count(adapters, State::Degraded) > 0;
  return some_work ? State::Degraded : State::Failed;
}

std::string summary_of(const Config& config, const std::vector<AdapterHealth>& adapters) {
  if (adapters.empty()) return "no PVRDMA adapter";
  std::string text = std::to_string(count(adapters, State::Ready)) + " of " +
                     std::to_string(adapters.size()) + " adapters ready";
  if (config.readiness.adapters)
    text += ", " + std::to_string(*config.readiness.adapters) + " required";
  return text;
}

}  // namespace

Health assess(const Config& config, const Snapshot& snapshot, const Plan& plan,
              const History& history, BootTime now) {
  Health health;
  health.observed = snapshot.taken_at;
  health.findings = plan.findings;
  health.busy = history.busy;
  health.reloads = snapshot.ledger.reloads;
  health.rebinds = snapshot.ledger.rebinds;
  if (!snapshot.adapters.is_known()) {
    health.summary = "the adapters of this VM could not be read";
    return health;
  }
  const bool devices_leave = takes_devices(plan, history);
  for (const Adapter& adapter : *snapshot.adapters.get()) {
    AdapterHealth entry;
    entry.adapter = adapter;
    const AdapterHistory seen = history_of(history, adapter, now);
    const Adapter* const read = last_reading(seen, now);
    const Adapter& judged = read != nullptr ? *read : adapter;
    entry.state = adapter_state(config, snapshot, plan, devices_leave, judged);
    entry.managed_by = managed_by(config, judged);
    entry.application_gid = application_gid(config, judged);
    entry.transitions = seen.transitions;
    entry.last_change = seen.port_changed;
    entry.gid_moves = seen.gid_moves;
    // The end of the wait for a customization of the VM starts a new time limit as well.
    const BootTime since = std::max(seen.changed, std::min(history.customized_until, now));
    if (entry.state == State::Converging && !devices_leave &&
        now - since > config.readiness.timeout) {
      entry.state = State::Degraded;
      health.findings.push_back(findings::slow(adapter, config.readiness.timeout));
    }
    health.adapters.push_back(std::move(entry));
  }
  health.state = state_of(config, plan, health.adapters);
  health.summary = summary_of(config, health.adapters);
  return health;
}

Health if_fresh(Health health, BootTime now, Milliseconds limit) {
  if (health.observed == BootTime{} || now - health.observed <= limit) return health;
  health.state = State::Unknown;
  health.summary = "the last look is " + std::to_string((now - health.observed).count() / 1000) +
                   " s old; before it: " + health.summary;
  return health;
}

bool driver_is_decided(const Snapshot& snapshot, const Plan& plan) {
  // The next look may find adapters, and then the driver is loaded.
  if (snapshot.adapters.is_unreadable()) return false;
  if (!snapshot.adapters.is_known() || snapshot.adapters.get()->empty()) return true;
  if (is_live(snapshot, kDriverModule))
    // A link must not come up while a function is probed, so functions that still wait for their
    // bind, and a reload, come first.
    return !plan.reload_follows &&
           std::none_of(plan.actions.begin(), plan.actions.end(),
                        [](const Action& action) { return probes_functions(action.operation); });
  const Module* driver = snapshot.module(kDriverModule);
  if (driver != nullptr && !driver->init.is_absent()) return false;  // coming, or not known
  // Even if the plan waits for something else, such as a customization.
  if (driver != nullptr && (driver->shipped.is(Shipped::Missing) || driver->blocked.is_known()))
    return true;
  const auto tried = [](const Attempt& attempt) {
    return attempt.verb == Verb::LoadModule && attempt.target == kDriverModule && attempt.finished;
  };
  const Ledger& ledger = snapshot.ledger;
  if (std::any_of(ledger.attempts.begin(), ledger.attempts.end(), tried) ||
      std::any_of(ledger.refusals.begin(), ledger.refusals.end(), tried))
    return true;  // the load was tried and the driver is not live: it failed
  return plan.actions.empty() && !plan.next_look;
}

}  // namespace pvrdma
