// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output`: what the output of an ESXi host's commands means for this VM.
#pragma once

#include <string>
#include <vector>

#include "agent/tools/doctor/command.hpp"
#include "agent/tools/doctor/host_output/judgement.hpp"

namespace pvrdma::ctl {

// 0: all of it is there, and nothing is to be changed; 1: something is; 3: what is there is good
// or not understood, and not all is there, or it could not be read.
int host_output(const Settings& settings, const Console& console, const DoctorOptions& options);

[[nodiscard]] int code_of(const doctor::HostReading& reading);
[[nodiscard]] std::string render_host_output(const doctor::HostReading& reading,
                                             const Style& style);
[[nodiscard]] Json host_output_json(const doctor::HostReading& reading,
                                    const std::vector<doctor::GuestLink>& guest);

}  // namespace pvrdma::ctl
