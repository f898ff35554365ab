// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --next-boot`: for every installed kernel, will the driver be there and in order; for the
// machine, which program takes care of links, and which limits hold. Asks no agent, and looks at no
// device.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct NextBootOptions {
  std::string root = "/";          // root folder of the system
  std::vector<std::string> units;  // units whose memlock limit is shown: "slurmd"
  std::string module_lookup;       // path of the program that asks libkmod
  std::string initramfs_content;   // path of the program that looks into initramfs images
};

// 0: all is well; 1: a warning; 2: the driver will not be there on the next kernel, or, where that
// is not known, on any kernel; 3: not everything could be read, or there is no kernel.
int next_boot(const Settings& settings, const Console& console, const NextBootOptions& options);

}  // namespace pvrdma::ctl
