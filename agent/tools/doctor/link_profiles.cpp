// SPDX-License-Identifier: GPL-2.0-or-later
// Findings about the files by which network managers configure links.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/tools/doctor/surroundings.hpp"

namespace pvrdma::doctor {

// What NetworkManager goes by: nm-settings(5), connection.autoconnect-priority.
void check_profiles(const Survey& survey, std::vector<Finding>& findings) {
  const auto add = [&](std::string_view variant, Values values) {
    findings.push_back(make_finding(FindingId::LinkProfile, variant, std::move(values)));
  };
  for (const MacFile& one : survey.foreign_macs)
    add("no-such-mac", {{"file", one.file}, {"mac", joined(one.macs, " or ")}});
  for (const std::string& file : survey.refused_profiles) add("refused", {{"file", file}});
  for (const auto& [netdev, profiles] : survey.profiles) {
    std::vector<std::string> files;
    files.reserve(profiles.size());
    for (const LinkProfile& one : profiles) files.push_back(one.file);
    const LinkProfile& first = profiles[0];
    const LinkProfile& second = profiles[1];
    const bool by_priority = first.priority != second.priority;
    if (!by_priority && (!first.last_used || first.last_used == second.last_used)) {
      add("undecided", {{"netdev", netdev}, {"files", joined(files)}});
      continue;
    }
    files.erase(files.begin());
    add("several",
        {{"netdev", netdev},
         {"file", first.file},
         {"others", joined(files)},
         {"why", by_priority ? "its autoconnect-priority is " + std::to_string(first.priority) +
                                   " and not " + std::to_string(second.priority)
                             : "it was used last"}});
  }
}

}  // namespace pvrdma::doctor
