// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --next-boot`: for every installed kernel, will the driver be there and in order; for the
// machine, who takes care of links, and what limits hold. Asks no agent, and looks at no device.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct NextBootOptions {
  std::string root = "/";          // of the system to look at
  std::vector<std::string> units;  // whose memlock limit is wanted: "slurmd"
  std::string module_lookup;       // path of the program that asks libkmod
  std::string initramfs_content;   // path of the one that looks into initramfs images
};

// 0: all is well; 1: a warning; 2: the driver will not be there, on the kernel that is next or on
// all, where that is not known; 3: not all could be read, or there is no kernel.
int next_boot(const Settings& settings, const Console& console, const NextBootOptions& options);

}  // namespace pvrdma::ctl
