// SPDX-License-Identifier: GPL-2.0-or-later
// `seal`: lists the traces of this VM that a template would hand down to its clones.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct SealOptions {
  std::string root = "/";     // root folder of the system
  std::string module_lookup;  // path of the program module-lookup
};

// 0: a template would hand down nothing of this VM; 1: it would; 3: not everything could be looked
// at.
int seal(const Settings& settings, const Console& console, const SealOptions& options);

}  // namespace pvrdma::ctl
