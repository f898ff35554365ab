// SPDX-License-Identifier: GPL-2.0-or-later
// What this system is: container or machine, whose, which distribution, how it was booted, and what
// its clock says.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

// /etc/os-release (os-release(5)).
struct OsRelease {
  std::string id;       // "ubuntu"
  std::string version;  // "22.04"; empty where it has none
  std::string name;     // PRETTY_NAME
  friend bool operator==(const OsRelease&, const OsRelease&) = default;
};

struct ClockState {
  Field<bool> synchronized;             // adjtimex(2): STA_UNSYNC is not set
  Field<std::int64_t> off_rtc_seconds;  // the system's time less that of the VM's hardware clock
  friend bool operator==(const ClockState&, const ClockState&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// What runs the container that this is: "docker", "podman", "systemd-nspawn". Absent: none says so.
// From systemd's notes (https://systemd.io/CONTAINER_INTERFACE) and the engines' own files.
[[nodiscard]] Field<std::string> container_manager(const Root& root);

// An attribute of /sys/class/dmi/id, "sys_vendor".
[[nodiscard]] Field<std::string> dmi(const Root& root, const char* attribute);

// os-release(5). Absent: it has no ID.
[[nodiscard]] Field<OsRelease> parse_os_release(std::string_view text);
[[nodiscard]] Field<OsRelease> os_release(const Root& root);

// As systemd-detect-virt(1) has it: "vmware", "kvm", "none", asked of systemd over the system bus;
// of a container that would be the container. Absent: not of this system. Bounded: half a second.
[[nodiscard]] Field<std::string> virtualization(const Root& root);

// Whether the machine was booted by EFI. Unreadable: a container hides /sys/firmware, or may.
[[nodiscard]] Field<bool> booted_by_efi(const Root& root);

// UEFI's variable SecureBoot. Absent: not booted by EFI.
[[nodiscard]] Field<bool> secure_boot(const Root& root);

// `now`: what time(2) says. The hardware clock of a VM is the host's; where it runs in local time
// (third line of /etc/adjtime) it is not compared.
[[nodiscard]] ClockState clock_state(const Root& root, std::time_t now);

}  // namespace pvrdma::probes
