// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of `doctor` as text and as JSON. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/text.hpp"
#include "agent/tools/doctor/examination.hpp"
#include "agent/tools/doctor/host_causes.hpp"

namespace pvrdma::ctl {

// The verdict, the findings with their remedies, and the checks with their evidence.
[[nodiscard]] std::string render_examination(const Examination& examination, const Style& style);
[[nodiscard]] Json to_json(const Examination& examination);

// Identifies this VM for a person who sees it from outside.
struct VmIdentity {
  std::string host_name;
  std::string system;                 // "Ubuntu 22.04.5 LTS, Linux 5.15.0-125-generic"
  std::string uuid;                   // the BIOS's UUID; empty: not readable
  std::vector<std::string> adapters;  // "00:50:56:8a:9f:c2 (0000:13:00.1, ens224f0)"
};

// A text to forward to the vSphere administrator.
[[nodiscard]] std::string render_ticket(const VmIdentity& vm,
                                        const std::vector<doctor::HostTrouble>& troubles,
                                        std::size_t width);
[[nodiscard]] Json ticket_json(const VmIdentity& vm,
                               const std::vector<doctor::HostTrouble>& troubles);

}  // namespace pvrdma::ctl
