// SPDX-License-Identifier: GPL-2.0-or-later
// `migrate`: from the scripts that loaded the driver to this agent.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MigrateOptions {
  bool apply = false;
  bool revert = false;
  std::string root = "/";  // of the system to look at
};

// 0: no boot script reloads the driver, or all of it was moved; 1: some is, also what a person
// has to do; 2: a file could not be changed; 3: not permitted, no enabled agent, or nothing can be
// said.
int migrate(const Settings& settings, const Console& console, const MigrateOptions& options);

}  // namespace pvrdma::ctl
