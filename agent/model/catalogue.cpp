// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/model/catalogue.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

template <typename Wanted>
const CatalogueEntry* first_entry(const Wanted& wanted) {
  for (const Subject subject : kSubjects)
    for (const CatalogueEntry& entry : catalogue(subject))
      if (wanted(entry)) return &entry;
  return nullptr;
}

// Findings that pvrdma-agentctl makes itself: why it has no answer of the agent to show. Their
// sentences have no full stop, as they are parts of one line.
constexpr CatalogueEntry kAnswerEntries[] = {
    {FindingId::AgentNotRunning, "agent-not-running", "", "", Severity::Error, Actor::Guest,
     Concern::None, "pvrdma-agent is not running (no process listens on {socket})",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAnswering, "agent-not-answering", "silent", "", Severity::Error,
     Actor::Guest, Concern::None, "pvrdma-agent is running but does not answer",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAnswering, "agent-not-answering", "hung-up", "", Severity::Error,
     Actor::Guest, Concern::None, "pvrdma-agent hung up without an answer",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAnswering, "agent-not-answering", "error", "", Severity::Error,
     Actor::Guest, Concern::None, "cannot talk to pvrdma-agent: {error}",
     "See: systemctl status pvrdma-agent"},
    {FindingId::AgentNotAccessible, "agent-not-accessible", "", "", Severity::Error, Actor::Guest,
     Concern::None, "no permission to open the socket of pvrdma-agent: {socket}",
     "By default all users may open it; check the permissions of that file and its directory, and "
     "what SELinux or AppArmor denies"},
    {FindingId::AgentBadAnswer, "agent-bad-answer", "", "", Severity::Error, Actor::Guest,
     Concern::None, "pvrdma-agent gave an answer that cannot be understood: {error}",
     "Is pvrdma-agentctl of the same version? systemctl status pvrdma-agent"},
    {FindingId::ReloadNotFinished, "reload-not-finished", "", "", Severity::Error, Actor::Guest,
     Concern::None, "the reload has not finished within {limit}",
     "It still goes on. See: pvrdma-agentctl health"},
};

}  // namespace

std::span<const CatalogueEntry> catalogue(Subject subject) {
  switch (subject) {
    case Subject::Machine:
      return machine_findings();
    case Subject::Adapter:
      return adapter_findings();
    case Subject::Surroundings:
      return doctor_findings();
    case Subject::Answer:
      break;
  }
  return answer_findings();
}

const CatalogueEntry* find_entry(FindingId id, std::string_view variant) {
  return first_entry([&](const CatalogueEntry& entry) {
    return entry.id == id && (variant.empty() || entry.variant == variant);
  });
}

bool concerns(FindingId id, Concern concern) {
  const CatalogueEntry* entry = find_entry(id);
  return entry != nullptr &&
         (static_cast<unsigned>(entry->concerns) & static_cast<unsigned>(concern)) != 0;
}

const char* to_string(FindingId id) {
  const CatalogueEntry* entry = find_entry(id);
  return entry != nullptr ? entry->name.data() : "other";
}

FindingId finding_id_from(std::string_view name) {
  const auto* entry = first_entry([&](const CatalogueEntry& one) { return one.name == name; });
  return entry != nullptr ? entry->id : FindingId::Other;
}

std::string filled(std::string_view text, const Values& values) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    result += text.substr(0, open);
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) return result += text;
    const auto value = values.find(std::string{text.substr(1, close - 1)});
    result += value != values.end() ? value->second : text.substr(0, close + 1);
    text.remove_prefix(close + 1);
  }
  return result;
}

Finding make_finding(FindingId id, std::string_view variant, Values values,
                     std::optional<std::string> adapter) {
  const CatalogueEntry* entry = find_entry(id, variant);
  assert(entry != nullptr);
  Finding finding;
  finding.id = entry->id;
  finding.severity = entry->severity;
  finding.actor = entry->actor;
  finding.adapter = std::move(adapter);
  finding.summary = filled(entry->summary, values);
  finding.remedy = filled(entry->remedy, values);
  finding.values = std::move(values);
  return finding;
}

std::vector<std::string> commands_of(const Finding& finding) {
  // A finding does not store its variant, so the variant is found by the summary.
  const auto* entry = first_entry([&](const CatalogueEntry& one) {
    return one.id == finding.id && filled(one.summary, finding.values) == finding.summary;
  });
  std::vector<std::string> commands;
  if (entry == nullptr) return commands;
  const std::string lines = filled(entry->commands, finding.values);
  std::string_view rest = lines;
  while (!rest.empty()) commands.emplace_back(cut(rest, '\n'));
  return commands;
}

std::span<const CatalogueEntry> answer_findings() { return kAnswerEntries; }

}  // namespace pvrdma
