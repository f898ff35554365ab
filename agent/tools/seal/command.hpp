// SPDX-License-Identifier: GPL-2.0-or-later
// `seal`: what a template of this VM would hand down to its clones.
#pragma once

#include <string>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct SealOptions {
  std::string root = "/";  // of the system to look at
};

// 0: a template would bake nothing of this VM; 1: it would; 3: not all could be looked at.
int seal(const Settings& settings, const Console& console, const SealOptions& options);

}  // namespace pvrdma::ctl
