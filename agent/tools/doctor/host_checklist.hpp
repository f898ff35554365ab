// SPDX-License-Identifier: GPL-2.0-or-later
// All settings on the host's side that PVRDMA needs, with the guest's own view of each. Pure.
#pragma once

#include <string>
#include <vector>

#include "agent/model/snapshot.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::doctor {

struct HostSetting {
  const char* area;                   // "Physical switch"
  std::string setting;                // as it has to be
  std::string seen;                   // in the guest, for or against it; empty: it sees nothing
  std::vector<std::string> commands;  // for the ESXi shell
  std::string menu;                   // in the vSphere Client; empty: it is not set there
};

// From the wire to the VM; the settings of an area follow each other.
[[nodiscard]] std::vector<HostSetting> host_checklist(const Snapshot& snapshot,
                                                      const Survey& survey);

}  // namespace pvrdma::doctor
