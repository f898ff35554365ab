// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor`: is RDMA usable here, and if not, whose move is it?
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"
#include "agent/ctl/local.hpp"

namespace pvrdma::ctl {

struct DoctorOptions {
  std::vector<std::string> units;  // whose limit of locked memory is looked at: "slurmd"
  bool host_admin = false;         // only what is for the vSphere administrator
  std::string host_output;         // instead: what an ESXi host printed, a file or "-"; empty: no
  Helpers helpers;                 // port_query is used where no agent has asked
  Root root;
};

// 0: RDMA is usable here; 1: with warnings; 2: it is not; 3: that is not known.
int doctor(const Settings& settings, const Console& console, const DoctorOptions& options);

}  // namespace pvrdma::ctl
