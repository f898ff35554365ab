// SPDX-License-Identifier: GPL-2.0-or-later
// The results of `doctor`, row by row, with the raw state as evidence: a reader also sees what was
// good, and what could not be read. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/model/catalogue.hpp"
#include "agent/model/config.hpp"
#include "agent/model/health.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::doctor {

// The standing of one fact. A row has that of the worst of its facts.
enum class Standing {
  Good,     // known, and as it should be
  Plain,    // known; can be called neither good nor bad
  Unknown,  // not told
};

struct Check {
  std::string_view area;                // "libraries"
  Concern concern;                      // of the findings that are about this
  std::vector<std::string> evidence{};  // one line each
  std::vector<std::string> unread{};    // what could not be read, with the reason
  std::optional<Standing> standing{};   // none: the row has no fact that could be good

  void good(std::string line) { add(Standing::Good, std::move(line)); }
  void plain(std::string line) { add(Standing::Plain, std::move(line)); }
  void unknown(std::string line) { add(Standing::Unknown, std::move(line)); }
  // Adds a line for the reader; the line does not change the row's standing.
  void note(std::string line) { evidence.push_back(std::move(line)); }
  void add(Standing fact, std::string line) {
    count(fact);
    note(std::move(line));
  }
  // Counts a fact that the lines tell already.
  void count(Standing fact) { standing = std::max(standing.value_or(fact), fact); }
};

// One row for each area with something to tell, in the order of the stack: hardware, kernel, link,
// port, user space, machine.
[[nodiscard]] std::vector<Check> checks(const Config& config, const Snapshot& snapshot,
                                        const Survey& survey);

// "error", "warning", "info", "unknown" or "good". A row is unknown where one of its facts is
// absent or unreadable, and info where none of its facts could be good; so a good row has only
// facts that are known to be good.
[[nodiscard]] std::string_view verdict(const Check& check, const std::vector<Finding>& findings);

}  // namespace pvrdma::doctor
