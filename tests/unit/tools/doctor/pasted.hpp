// SPDX-License-Identifier: GPL-2.0-or-later
// Output pasted by administrators, and the guest that it is compared with.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "agent/tools/doctor/host_output/judgement.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"

namespace pvrdma::test {

inline const std::vector<doctor::GuestLink> kGuest{{"ens161", 1500}, {"ens224f0", 9000}};

// A file of tests/fixtures/host-output.
inline std::string fixture(const std::string& name) {
  std::ifstream file{std::string{places::fixtures} + "/host-output/" + name};
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE_FALSE(text.str().empty());
  return text.str();
}

}  // namespace pvrdma::test
