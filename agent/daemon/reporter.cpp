#include "agent/daemon/reporter.hpp"

#include <utility>

#include "agent/base/journal.hpp"
#include "agent/base/notify.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/model/messages.hpp"

namespace pvrdma {

using journal::Priority;

namespace {

Priority priority_of(State state) {
  if (state == State::Failed) return Priority::Error;
  return state == State::Degraded || state == State::Unknown ? Priority::Warning : Priority::Info;
}

Priority priority_of(Severity severity) {
  if (severity == Severity::Error) return Priority::Error;
  return severity == Severity::Warning ? Priority::Warning : Priority::Info;
}

}  // namespace

void Reporter::conclude(const Health& health, bool managers_may_start) {
  log_ports(health);
  log_gids(health);
  log_findings(health);
  log_state(health);
  std::string status = std::string{to_string(health.state)} + ": " + health.summary;
  const bool at_rest = health.state == State::Ready || health.state == State::Absent;
  if (!at_rest && !health.findings.empty()) status += ": " + health.findings.front().summary;
  if (status != status_) notify("STATUS", status);
  status_ = status;
  if (managers_may_start) ready();
}

void Reporter::look_finished() { notify("WATCHDOG", "1"); }

void Reporter::ready() {
  if (!ready_) notify("READY", "1");
  ready_ = true;
}

void Reporter::log_state(const Health& health) {
  if (health.state == state_) return;
  // A VM without an adapter is no news at all.
  if (!(state_ == State::Unknown && health.state == State::Absent))
    journal::log(
        priority_of(health.state), messages::kStateChanged,
        std::string{to_string(health.state)} + ": " + health.summary,
        {{"PVRDMA_STATE", to_string(health.state)}, {"PVRDMA_STATE_BEFORE", to_string(state_)}});
  state_ = health.state;
}

void Reporter::log_ports(const Health& health) {
  std::map<std::string, std::string> ports;
  for (const AdapterHealth& entry : health.adapters) {
    const RdmaDevice* rdma = entry.adapter.rdma.get();
    if (rdma == nullptr) continue;
    const std::string now = rdma->port.state.value_or("unreadable");
    const auto before = ports_.find(entry.adapter.function);
    const std::string was = before == ports_.end() ? "" : before->second;
    ports.emplace(entry.adapter.function, now);
    if (now == was) continue;
    journal::log(Priority::Info, messages::kPortChanged,
                 "Port of " + rdma->name + " (" + entry.adapter.function + ") is " + now +
                     (was.empty() ? "" : ", was " + was),
                 {{"PVRDMA_ADAPTER", entry.adapter.function}, {"PVRDMA_PORT_STATE", now}});
  }
  ports_ = std::move(ports);
}

void Reporter::log_gids(const Health& health) {
  std::map<std::string, ApplicationGid> gids;
  for (const AdapterHealth& entry : health.adapters) {
    const auto before = gids_.find(entry.adapter.function);
    // It may come back after a reload, and then at another index.
    if (!entry.application_gid && before != gids_.end()) gids.insert(*before);
    if (!entry.application_gid) continue;
    const ApplicationGid& now = *entry.application_gid;
    gids.emplace(entry.adapter.function, now);
    if (before == gids_.end() || before->second == now) continue;
    const ApplicationGid& was = before->second;
    journal::log(Priority::Notice, messages::kGidChanged,
                 "The GID for applications of " + entry.adapter.function + " is index " +
                     std::to_string(now.index) + " (" + now.address + ", " + now.type +
                     "), was index " + std::to_string(was.index) + " (" + was.address + ", " +
                     was.type + ")",
                 {{"PVRDMA_ADAPTER", entry.adapter.function},
                  {"PVRDMA_GID_INDEX", std::to_string(now.index)}});
  }
  gids_ = std::move(gids);
}

void Reporter::log_findings(const Health& health) {
  std::set<std::string> present;
  for (const Finding& finding : health.findings) {
    const std::string adapter = finding.adapter.value_or("");
    const std::string key = finding.id + " " + adapter + (adapter.empty() ? finding.summary : "");
    present.insert(key);
    if (findings_.count(key) > 0) continue;
    const CatalogueEntry* entry = find_entry(finding.id);
    journal::log(priority_of(finding.severity), entry != nullptr ? entry->message_id : "",
                 finding.summary + (finding.remedy.empty() ? "" : " " + finding.remedy),
                 {{"PVRDMA_FINDING", finding.id}, {"PVRDMA_ADAPTER", adapter}});
  }
  findings_ = std::move(present);
}

void Reporter::call_ended(const Operation& operation, const Result<varlink::Answer>& answer) {
  std::string refusal;
  if (!answer) refusal = answer.error().message();
  if (refusal.empty() || refusal == last_refusal_) {
    last_refusal_ = refusal;
    return;
  }
  last_refusal_ = refusal;
  journal::log(Priority::Warning, messages::kActionFailed, describe(operation) + ": " + refusal,
               {{"PVRDMA_VERB", verb(operation)}, {"PVRDMA_TARGET", target(operation)}});
}

void Reporter::boot_noted(const Result<void>& noted) {
  if (noted || std::exchange(boot_lost_, true)) return;
  journal::log(Priority::Notice, {},
               "The timeline of this boot is not noted: " + noted.error().message());
}

void Reporter::config_loaded(std::size_t files) {
  journal::log(Priority::Info, messages::kConfigLoaded,
               "Configuration read again (" + std::to_string(files) + " files)");
}

void Reporter::config_rejected(const std::string& error) {
  journal::log(Priority::Error, messages::kConfigBad,
               "The configuration is not good, the last good one stays in force: " + error);
}

}  // namespace pvrdma
