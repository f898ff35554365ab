// SPDX-License-Identifier: GPL-2.0-or-later
// `migrate`: from the scripts that loaded the driver to this agent.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MigrateOptions {
  bool apply = false;
  bool revert = false;
  std::string root = "/";  // root folder of the system
};

// 0: no boot script reloads the driver, or everything was moved; 1: scripts still reload it, or a
// person has to act; 2: a file could not be changed; 3: not permitted, no enabled agent, or not
// everything could be looked at.
int migrate(const Settings& settings, const Console& console, const MigrateOptions& options);

}  // namespace pvrdma::ctl
