// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/reporter.hpp"

#include <array>
#include <chrono>

#include "agent/base/format.hpp"
#include "agent/base/log.hpp"
#include "agent/base/notify.hpp"
#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/model/messages.hpp"
#include "agent/plan/planner.hpp"

namespace pvrdma {

using log::Level;

namespace {

Level level_of(State state) {
  if (state == State::Failed) return Level::Error;
  return state == State::Degraded || state == State::Unknown ? Level::Warning : Level::Info;
}

Level level_of(Severity severity) {
  if (severity == Severity::Error) return Level::Error;
  return severity == Severity::Warning ? Level::Warning : Level::Info;
}

// Even on a busy system a look begins only a few seconds late.
constexpr Milliseconds kLate{10'000};

// Tells findings apart that may be present together: an adapter may have one of a kind for each
// call, address, function and neighbour, the machine one for each module.
std::string key_of(const Finding& finding) {
  constexpr std::array<std::string_view, 4> kTelling{"call", "address", "function", "other"};
  // These values change while the cause stays the same.
  constexpr std::array<std::string_view, 4> kPassing{"since", "time", "tries", "who"};
  std::string key = std::string{to_string(finding.id)} + " ";
  key += finding.adapter ? *finding.adapter : to_string(finding.severity);
  for (const auto& [name, value] : finding.values)
    if (finding.adapter ? contains(kTelling, name) : !contains(kPassing, name)) key += " " + value;
  return key;
}

// The fields of a journal entry about a step of the boot; with a null step the fields are empty and
// left out. `pvrdma-agentctl boots` reads them (agent/ctl/boots_journal.hpp).
struct StepFields {
  explicit StepFields(const Step* step) {
    if (step == nullptr) return;
    name = to_string(step->kind);
    usec = std::to_string(std::chrono::microseconds{step->at.time_since_epoch()}.count());
    if (step->at_or_before) at_or_before = "1";
  }
  std::string name, usec, at_or_before;
};

}  // namespace

void Reporter::conclude(const Health& health, const Timeline& boot) {
  const Timeline steps = new_steps(boot);
  log_steps(steps);
  log_ports(health, steps);
  log_gids(health);
  log_findings(health);
  log_state(health, steps);
  std::string status = std::string{to_string(health.state)} + ": " + health.summary;
  const bool at_rest = health.state == State::Ready || health.state == State::Absent;
  if (!at_rest && !health.findings.empty()) status += ": " + health.findings.front().summary;
  if (status != status_) notify("STATUS", status);
  status_ = status;
}

void Reporter::passed(const Snapshot& snapshot, const Plan& plan, bool acts, Milliseconds next) {
  if (!log::wants(Level::Debug)) return;
  std::string line = pass_line(snapshot, plan);
  const bool news = line != pass_ || (acts && !plan.actions.empty());
  pass_ = std::move(line);
  // The time of the next look differs in each pass, so it is no reason to log the line again.
  if (news) log::debug("{}; next look in {} ms", pass_, next.count());
}

void Reporter::alive() {
  notify("WATCHDOG", "1");
  log::tell_dropped();
}

void Reporter::ready() { notify("READY", "1"); }

void Reporter::woke_late(Milliseconds late) {
  if (late < kLate) return;
  log::warning(
      "the agent could not run for {} s: the system was suspended, or processes of a higher "
      "priority had the CPU",
      in_seconds(late));
}

Timeline Reporter::new_steps(const Timeline& boot) {
  Timeline steps = boot;
  steps.steps.clear();
  if (boot.find(StepKind::AdapterSeen) == nullptr) return steps;
  for (const Step& step : boot.steps)
    if (steps_.emplace(step.kind, step.subject).second) steps.steps.push_back(step);
  return steps;
}

void Reporter::log_steps(const Timeline& steps) {
  for (const Step& step : steps.steps) {
    // log_ports() and log_state() log these two steps.
    if (step.kind == StepKind::PortActive || step.kind == StepKind::Ready) continue;
    const StepFields fields{&step};
    log::event(Level::Info, messages::kBootStep,
               formatted("{} s after the boot began{}: {}", in_seconds(step.at.time_since_epoch()),
                         step.at_or_before ? ", or before" : "", in_words(step.kind, step.subject)),
               {{"PVRDMA_STEP", fields.name},
                {"PVRDMA_ADAPTER", step.subject},
                {"PVRDMA_USEC_SINCE_BOOT", fields.usec},
                {"PVRDMA_AT_OR_BEFORE", fields.at_or_before},
                {"PVRDMA_KERNEL", step.kind == StepKind::AgentStarted ? steps.kernel : ""}});
  }
}

void Reporter::log_state(const Health& health, const Timeline& steps) {
  if (health.state == state_) return;
  const Step* ready = steps.find(StepKind::Ready);
  const StepFields fields{ready};
  // A VM that never had an adapter needs no entry.
  if (!(state_ == State::Unknown && health.state == State::Absent))
    log::event(
        level_of(health.state), messages::kStateChanged,
        formatted("{}: {}", to_string(health.state), health.summary),
        {{"PVRDMA_STATE", to_string(health.state)},
         {"PVRDMA_STATE_BEFORE", to_string(state_)},
         {"PVRDMA_STEP", fields.name},
         {"PVRDMA_USEC_SINCE_BOOT", fields.usec},
         {"PVRDMA_AT_OR_BEFORE", fields.at_or_before},
         {"PVRDMA_PORT_CHANGES", ready != nullptr ? std::to_string(steps.port_changes) : ""}});
  state_ = health.state;
}

void Reporter::log_ports(const Health& health, const Timeline& steps) {
  std::map<std::string, std::string> ports;
  for (const AdapterHealth& entry : health.adapters) {
    const RdmaDevice* rdma = entry.adapter.rdma_device.get();
    if (rdma == nullptr) continue;
    const std::string now = word_or(rdma->port.state, "unreadable");
    const auto before = ports_.find(entry.adapter.function);
    const std::string was = before == ports_.end() ? "" : before->second;
    ports.emplace(entry.adapter.function, now);
    if (now == was) continue;
    const StepFields fields{steps.find(StepKind::PortActive, entry.adapter.function)};
    log::event(Level::Info, messages::kPortChanged,
               formatted("Port of {} ({}) is {}{}", rdma->name, entry.adapter.function, now,
                         was.empty() ? "" : ", was " + was),
               {{"PVRDMA_ADAPTER", entry.adapter.function},
                {"PVRDMA_PORT_STATE", now},
                {"PVRDMA_STEP", fields.name},
                {"PVRDMA_USEC_SINCE_BOOT", fields.usec},
                {"PVRDMA_AT_OR_BEFORE", fields.at_or_before}});
  }
  ports_ = std::move(ports);
}

void Reporter::log_gids(const Health& health) {
  std::map<std::string, ApplicationGid> gids;
  for (const AdapterHealth& entry : health.adapters) {
    const auto before = gids_.find(entry.adapter.function);
    // After a reload the GID may come back with another index.
    if (!entry.application_gid && before != gids_.end()) gids.insert(*before);
    if (!entry.application_gid) continue;
    const ApplicationGid& now = *entry.application_gid;
    gids.emplace(entry.adapter.function, now);
    if (before == gids_.end() || before->second == now) continue;
    const ApplicationGid& was = before->second;
    log::event(
        Level::Notice, messages::kGidChanged,
        formatted("The GID for applications of {} is index {} ({}, {}), was index {} ({}, {})",
                  entry.adapter.function, now.index, now.address, now.type, was.index, was.address,
                  was.type),
        {{"PVRDMA_ADAPTER", entry.adapter.function},
         {"PVRDMA_GID_INDEX", std::to_string(now.index)}});
  }
  gids_ = std::move(gids);
}

void Reporter::log_findings(const Health& health) {
  std::set<std::string> present;
  for (const Finding& finding : health.findings) {
    const std::string key = key_of(finding);
    present.insert(key);
    if (findings_.count(key) > 0) continue;
    const CatalogueEntry* entry = find_entry(finding.id);
    log::event(level_of(finding.severity), entry != nullptr ? entry->message_id : "",
               finding.summary + (finding.remedy.empty() ? "" : " " + finding.remedy),
               {{"PVRDMA_FINDING", to_string(finding.id)},
                {"PVRDMA_ADAPTER", finding.adapter.value_or("")}});
  }
  findings_ = std::move(present);
}

void Reporter::call_failed(const CallFailed& call) {
  const auto& [operation, why] = call;
  log::event(Level::Warning, messages::kActionFailed, formatted("{}: {}", describe(operation), why),
             {{"PVRDMA_VERB", to_string(verb(operation))}, {"PVRDMA_TARGET", target(operation)}});
}

void Reporter::config_loaded(std::size_t files) {
  log::event(Level::Info, messages::kConfigLoaded,
             formatted("Configuration read again ({} files)", files));
}

void Reporter::config_rejected(const std::string& error) {
  log::event(Level::Error, messages::kConfigBad,
             formatted("The configuration is still invalid, and not used: {}", error));
}

}  // namespace pvrdma
