// SPDX-License-Identifier: GPL-2.0-or-later
// The catalogue of findings: the severity, the actor and the sentences of each id. Health, the
// journal, its catalog and the man page are made from this catalogue alone.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "agent/model/health.hpp"

namespace pvrdma {

// The subject of a finding. Only `doctor` looks at Surroundings, those of applications. A finding
// about an Answer is pvrdma-agentctl's own, when the agent gave no answer.
enum class Subject { Machine, Adapter, Surroundings, Answer };
inline constexpr std::array kSubjects{Subject::Machine, Subject::Adapter, Subject::Surroundings,
                                      Subject::Answer};

// The areas that a finding affects. The first ones are the rows of `doctor`
// (agent/tools/doctor/checks.hpp).
enum class Concern : unsigned {
  None = 0,
  Adapters = 1U << 0U,
  Modules = 1U << 1U,
  Blocks = 1U << 2U,
  Links = 1U << 3U,
  Ports = 1U << 4U,
  Gids = 1U << 5U,
  Nodes = 1U << 6U,
  Libraries = 1U << 7U,
  Memlock = 1U << 8U,
  Holders = 1U << 9U,
  Boot = 1U << 10U,
  Guest = 1U << 11U,
  Clock = 1U << 12U,
  // While there is such a finding, the agent does nothing for an adapter that does not work; so the
  // adapter is degraded, not converging.
  Readiness = 1U << 13U,
  // Counts in a container as well. A container usually runs no agent and may not change modules or
  // links, so other findings do not count there.
  Containers = 1U << 14U,
};
[[nodiscard]] constexpr Concern operator|(Concern left, Concern right) {
  return static_cast<Concern>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}

struct CatalogueEntry {
  FindingId id;           // several entries may share one: the variants
  std::string_view name;  // "port-down"
  std::string_view variant;
  // MESSAGE_ID in the journal; the same in all variants. Empty: the agent never logs the finding.
  std::string_view message_id;
  Severity severity;
  Actor actor;
  Concern concerns;  // the same in all variants
  // Sentences in which {name} stands for a value: the fact, and what to do about it.
  std::string_view summary;
  std::string_view remedy;
  // The remedy in the manual, where `remedy` consists of values that differ in each case.
  std::string_view remedy_in_pages = {};
  // Lines to copy, with names; `doctor` shows them below the remedy.
  std::string_view commands = {};
};

// In the order of the pages; variants of one id follow each other.
[[nodiscard]] std::span<const CatalogueEntry> catalogue(Subject subject);
// The parts of the catalogue, each in its own file.
[[nodiscard]] std::span<const CatalogueEntry> machine_findings();
[[nodiscard]] std::span<const CatalogueEntry> adapter_findings();
[[nodiscard]] std::span<const CatalogueEntry> doctor_findings();
[[nodiscard]] std::span<const CatalogueEntry> answer_findings();

// Null: there is none. An empty variant finds the first.
[[nodiscard]] const CatalogueEntry* find_entry(FindingId id, std::string_view variant = {});

[[nodiscard]] bool concerns(FindingId id, Concern concern);

// The value of each name, for the sentences and for the evidence in JSON.
using Values = std::map<std::string, std::string>;

// `text` with a value for each {name}; a name without one stays as it is.
[[nodiscard]] std::string filled(std::string_view text, const Values& values);

// A finding of the catalogue; `id` and `variant` must be in it.
[[nodiscard]] Finding make_finding(FindingId id, std::string_view variant, Values values,
                                   std::optional<std::string> adapter = std::nullopt);

// The `commands` lines of a finding's entry, with its values in place of names.
[[nodiscard]] std::vector<std::string> commands_of(const Finding& finding);

}  // namespace pvrdma
