// What `doctor` looked at, row by row, with the raw state as evidence: so that a reader sees what
// was good as well, and what could not be read. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/snapshot.hpp"
#include "agent/model/survey.hpp"

namespace pvrdma::doctor {

struct Check {
  std::string_view area;                 // "libraries"
  std::vector<std::string> evidence;     // a line each
  std::vector<std::string> unread;       // what could not be read, with the reason
  std::vector<std::string_view> spoils;  // ids of the findings that are about this
};

// One for each area that there is something to say about, in the order of the stack: hardware,
// kernel, link, port, user space, machine.
[[nodiscard]] std::vector<Check> checks(const Config& config, const Snapshot& snapshot,
                                        const Survey& survey);

}  // namespace pvrdma::doctor
