// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about this system: whether it is a container, the vendor of the machine, the distribution,
// how it was booted, its clock, its name, and the MACs of its netdevs.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

// /etc/os-release (os-release(5)).
struct OsRelease {
  std::string id;       // "ubuntu"
  std::string version;  // "22.04"; empty where there is none
  std::string name;     // PRETTY_NAME
  // "jammy", of a derivative that of the Ubuntu it is made from; empty where there is none.
  std::string codename = {};
  friend bool operator==(const OsRelease&, const OsRelease&) = default;
};

struct ClockState {
  Field<bool> synchronized;             // adjtimex(2): STA_UNSYNC is not set
  Field<std::int64_t> off_rtc_seconds;  // the system's time minus that of the VM's hardware clock
  friend bool operator==(const ClockState&, const ClockState&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// The manager of the container that this system is: "docker", "podman", "systemd-nspawn". Absent:
// there is no sign of a container. Uses systemd's interface
// (https://systemd.io/CONTAINER_INTERFACE) and the engines' own files.
[[nodiscard]] Field<std::string> container_manager(const Root& root);

// An attribute of /sys/class/dmi/id, "sys_vendor".
[[nodiscard]] Field<std::string> dmi(const Root& root, const char* attribute);

// os-release(5). Absent: the text has no ID.
[[nodiscard]] Field<OsRelease> parse_os_release(std::string_view text);
[[nodiscard]] Field<OsRelease> os_release(const Root& root);

// The answer of systemd-detect-virt(1): "vmware", "kvm", "none". Asks systemd over the system bus;
// in a container the answer is about the container. Absent: `root` is not this system. Waits half a
// second at most.
[[nodiscard]] Field<std::string> virtualization(const Root& root);

// Whether the machine was booted by EFI. Unreadable: this is a container, which may hide
// /sys/firmware.
[[nodiscard]] Field<bool> booted_by_efi(const Root& root);

// UEFI's variable SecureBoot. Absent: not booted by EFI.
[[nodiscard]] Field<bool> secure_boot(const Root& root);

// `now`: the result of time(2). The hardware clock of a VM comes from the host. If it runs in local
// time (third line of /etc/adjtime) the clocks are not compared.
[[nodiscard]] ClockState clock_state(const Root& root, std::time_t now);

// gethostname(2). Empty: it failed.
[[nodiscard]] std::string host_name();

// The MAC that the netdev has now, which is not the device's own in a bond, or where another was
// set. From sysfs.
[[nodiscard]] Result<std::string> present_mac(const Root& root, const std::string& netdev);

}  // namespace pvrdma::probes
