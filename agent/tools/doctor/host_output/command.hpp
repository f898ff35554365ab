// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output`: what the output of an ESXi host's commands means for this VM.
#pragma once

#include <string>

#include "agent/tools/doctor/command.hpp"
#include "agent/tools/doctor/host_output/judgement.hpp"

namespace pvrdma::ctl {

// 0: the paste is complete and nothing has to change; 1: something has to change; 3: the paste is
// incomplete, not understood, or could not be read, and nothing in it has to change.
int host_output(const Settings& settings, const Console& console, const DoctorOptions& options);

[[nodiscard]] int code_of(const doctor::HostReading& reading);
[[nodiscard]] std::string render_host_output(const doctor::HostReading& reading,
                                             const Style& style);
[[nodiscard]] Json host_output_json(const doctor::HostReading& reading,
                                    const doctor::GuestVm& guest);

}  // namespace pvrdma::ctl
