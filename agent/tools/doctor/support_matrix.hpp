// SPDX-License-Identifier: GPL-2.0-or-later
// The guest systems for which VMware supports PVRDMA (vSphere documentation, "Configure a Virtual
// Machine for PVRDMA" and the list of supported guests).
#pragma once

#include <string>

#include "agent/tools/doctor/survey.hpp"

namespace pvrdma {

enum class Support {
  RoceV2,    // and RoCE v1
  RoceV1,    // RoCE v1 only
  None,      // not in the list
  NoDriver,  // "and later" of the list, but its kernel is built without the driver
  Unknown,   // os-release has no exact version
};

// `kernel`: the release; it identifies Oracle's Unbreakable Enterprise Kernel.
[[nodiscard]] Support support_of(const OsRelease& os, const std::string& kernel);

// The list of supported guests, for a person.
inline constexpr const char* kListedGuests =
    "CentOS or RHEL 7.3 and rebuilds of it (10 is built without the driver), SLES 12 SP3, Oracle "
    "Linux 7 with UEKR5, Ubuntu LTS 16.04.2, Photon 3.0 (which VMware's tests of guests skip for "
    "PVRDMA), and later";

}  // namespace pvrdma
