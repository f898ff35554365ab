// SPDX-License-Identifier: GPL-2.0-or-later
// The catalogue of findings: for each id how bad it is, whose move it is, and its words. Health,
// the journal, its catalog and the man page are made from it, and from nothing else.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "agent/model/health.hpp"

namespace pvrdma {

// What a finding is about. The Surroundings of applications are looked at by `doctor` alone; an
// Answer's is pvrdma-agentctl's own, where the agent gave none.
enum class Subject { Machine, Adapter, Surroundings, Answer };
inline constexpr std::array kSubjects{Subject::Machine, Subject::Adapter, Subject::Surroundings,
                                      Subject::Answer};

// What a finding bears upon. The first are the rows of `doctor` (agent/tools/doctor/checks.hpp).
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
  // While it is so the agent does nothing for an adapter that does not work: that is degraded, not
  // converging.
  Readiness = 1U << 13U,
  // Counts in a container as well, where nobody expects the agent, nor that it may change modules
  // and links.
  Containers = 1U << 14U,
};
[[nodiscard]] constexpr Concern operator|(Concern left, Concern right) {
  return static_cast<Concern>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}

struct CatalogueEntry {
  FindingId id;           // several entries may share one: the variants
  std::string_view name;  // "port-down"
  std::string_view variant;
  // Of the journal; the same in all variants. Empty: the agent never logs it.
  std::string_view message_id;
  Severity severity;
  Actor actor;
  Concern concerns;  // the same in all variants
  // Sentences in which {name} stands for a value: what is so, and what to do.
  std::string_view summary;
  std::string_view remedy;
  // The remedy as the pages have it, where it is too much of a case's own to be shown with names.
  std::string_view remedy_in_pages = {};
  // Lines to copy, with names; `doctor` shows them below the remedy.
  std::string_view commands = {};
};

// In the order of the pages; variants of one id follow each other.
[[nodiscard]] std::span<const CatalogueEntry> catalogue(Subject subject);
// Its parts, each in a file of its own.
[[nodiscard]] std::span<const CatalogueEntry> machine_findings();
[[nodiscard]] std::span<const CatalogueEntry> adapter_findings();
[[nodiscard]] std::span<const CatalogueEntry> doctor_findings();
[[nodiscard]] std::span<const CatalogueEntry> answer_findings();

// Null: there is none. An empty variant finds the first.
[[nodiscard]] const CatalogueEntry* find_entry(FindingId id, std::string_view variant = {});

[[nodiscard]] bool concerns(FindingId id, Concern concern);

// What stands for the names, in the words and, for machines, in the evidence.
using Values = std::map<std::string, std::string>;

// `text` with a value for each {name}; a name without one stays as it is.
[[nodiscard]] std::string filled(std::string_view text, const Values& values);

// A finding of the catalogue; `id` and `variant` must be in it.
[[nodiscard]] Finding make_finding(FindingId id, std::string_view variant, Values values,
                                   std::optional<std::string> adapter = std::nullopt);

// The lines to copy of a finding's entry, with its values in place of names.
[[nodiscard]] std::vector<std::string> commands_of(const Finding& finding);

}  // namespace pvrdma
