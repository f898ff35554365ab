// SPDX-License-Identifier: GPL-2.0-or-later
// What `doctor` looked at, row by row, with the raw state as evidence: so that a reader sees what
// was good as well, and what could not be read. Pure.
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

// Of a fact, and of a row: that of the worst of its facts.
enum class Standing {
  Good,     // known, and as it should be
  Plain,    // known, and not such that it could be called good
  Unknown,  // not told
};

struct Check {
  std::string_view area;                // "libraries"
  Concern concern;                      // of the findings that are about this
  std::vector<std::string> evidence{};  // a line each
  std::vector<std::string> unread{};    // what could not be read, with the reason
  std::optional<Standing> standing{};   // none: no fact that could be good was looked at

  void good(std::string line) { add(Standing::Good, std::move(line)); }
  void plain(std::string line) { add(Standing::Plain, std::move(line)); }
  void unknown(std::string line) { add(Standing::Unknown, std::move(line)); }
  // For the reader alone: makes no row good or bad.
  void note(std::string line) { evidence.push_back(std::move(line)); }
  void add(Standing fact, std::string line) {
    count(fact);
    note(std::move(line));
  }
  // A fact that lines already tell.
  void count(Standing fact) { standing = std::max(standing.value_or(fact), fact); }
};

// One for each area that there is something to say about, in the order of the stack: hardware,
// kernel, link, port, user space, machine.
[[nodiscard]] std::vector<Check> checks(const Config& config, const Snapshot& snapshot,
                                        const Survey& survey);

// "error", "warning", "info", "unknown" or "good". Good is only what is known to be: a row with a
// fact that is not told, or could not be read, is unknown; one without a good fact is info.
[[nodiscard]] std::string_view verdict(const Check& check, const std::vector<Finding>& findings);

}  // namespace pvrdma::doctor
