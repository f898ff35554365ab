// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor`: is RDMA usable here; if not, who has to act?
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/local.hpp"

namespace pvrdma::ctl {

struct DoctorOptions {
  std::vector<std::string> units;  // units whose limit of locked memory is shown: "slurmd"
  bool host_admin = false;         // only what is for the vSphere administrator
  std::string host_output;         // a file, or "-", with an ESXi host's output; empty: none
  Helpers helpers;                 // port_query is used where no agent answers
  Root root;
};

// 0: RDMA is usable here; 1: usable, with warnings; 2: not usable; 3: not known.
int doctor(const Settings& settings, const Console& console, const DoctorOptions& options);

}  // namespace pvrdma::ctl
