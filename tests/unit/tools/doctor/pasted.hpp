// SPDX-License-Identifier: GPL-2.0-or-later
// Output pasted by administrators, and the guest that it is compared with.
#pragma once

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "agent/tools/doctor/host_output/judgement.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"

namespace pvrdma::test {

inline const doctor::GuestVm kGuest{
    {{"ens161", 1500}, {"ens224f0", 9000, "02:00:5e:20:00:01", false, true}},
    "0e894d56-6568-86d4-2278-80af6016e0e0",
    "node-0.example.org"};

// A file of tests/fixtures/host-output.
inline std::string fixture(const std::string& name) {
  std::ifstream file{std::string{places::fixtures} + "/host-output/" + name};
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return text.str();
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Each remark as a line: "change firewall 29: rule set pvrdma is not enabled".
inline std::vector<std::string> lines_of(const doctor::HostReading& reading) {
  std::vector<std::string> lines;
  for (const doctor::HostRemark& remark : reading.remarks)
    lines.push_back(std::string{to_string(remark.weight)} + " " + about(remark.part).id + " " +
                    std::to_string(remark.line) + ": " + remark.says);
  return lines;
}

// The parts without which the host is not known to be good; of several hosts with the host's name.
inline std::vector<std::string> required_of(const doctor::HostReading& reading) {
  std::vector<std::string> parts;
  for (const doctor::MissingPart& missing : reading.missing)
    if (missing.is_required)
      parts.push_back((reading.hosts.size() > 1 ? missing.host + " " : "") +
                      about(missing.part).id);
  return parts;
}

inline const doctor::HostRemark& remark_of(const doctor::HostReading& reading,
                                           doctor::HostPart part) {
  const auto at = std::find_if(reading.remarks.begin(), reading.remarks.end(),
                               [&](const doctor::HostRemark& one) { return one.part == part; });
  REQUIRE(at != reading.remarks.end());
  return *at;
}

}  // namespace pvrdma::test
