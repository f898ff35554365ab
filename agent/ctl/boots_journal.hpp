// SPDX-License-Identifier: GPL-2.0-or-later
// The boots that the journal tells of: each step is an entry with PVRDMA_STEP, of the agent
// (agent/daemon/reporter.cpp) or of its executor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/ctl/connection.hpp"
#include "agent/model/timeline.hpp"

namespace pvrdma::ctl {

// This one, and ten before it.
inline constexpr std::size_t kBootsAtMost = 11;

// A field of an entry by its name; empty: it has none.
using FieldOf = std::function<std::string(const char* name)>;
// Adds the step that an entry tells of. What makes no sense, or is of a later version, is left out;
// so is what an agent that was started again has found as it was. Entries come in their order.
void add_entry(Timeline& boot, const FieldOf& field);

struct JournalBoots {
  std::vector<Timeline> boots;  // the newest first
  // The journal is in /run, and ends with the boot.
  bool is_volatile = false;
};

// Of this machine. Believed is what the journal says itself of an entry (_SYSTEMD_UNIT,
// systemd.journal-fields(7)): anyone may log the other fields. A boot in which no adapter was seen
// is left out. Not: there is no journal, no such boot in it, or the caller may not read it.
[[nodiscard]] Answered<JournalBoots> read_journal();
// Of this boot alone; without steps where the agent has told of none.
[[nodiscard]] Answered<Timeline> read_this_boot();

}  // namespace pvrdma::ctl
