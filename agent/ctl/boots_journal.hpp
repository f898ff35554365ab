// SPDX-License-Identifier: GPL-2.0-or-later
// The boots in the journal: each step is an entry with PVRDMA_STEP, from the agent
// (agent/daemon/reporter.cpp) or from its executor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/ctl/connection.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::ctl {

// This boot, and ten earlier ones.
inline constexpr std::size_t kBootsAtMost = 11;

// A field of an entry by its name; empty: it has none.
using FieldOf = std::function<std::string(const char* name)>;
// Adds the step in an entry. Ignores entries that are invalid or from a later version, and steps
// that are already known, as an agent that is started again logs them once more. Must be called in
// the order of the entries.
void add_entry(Timeline& boot, const FieldOf& field);

struct JournalBoots {
  std::vector<Timeline> boots;  // the newest first
  // The journal is in /run, so it ends with the boot.
  bool is_volatile = false;
};

// The boots of this machine. Entries are selected by _SYSTEMD_UNIT, which journald sets itself
// (systemd.journal-fields(7)), as every user can log the other fields. A boot in which no adapter
// was seen is left out. NoAnswer: there is no journal, or the caller may not read it.
[[nodiscard]] Answered<JournalBoots> read_journal();
// This boot alone; without steps where the agent has logged none.
[[nodiscard]] Answered<Timeline> read_this_boot();

}  // namespace pvrdma::ctl
