// SPDX-License-Identifier: GPL-2.0-or-later
// Units as systemd will find them at the next boot, from their files: systemd.unit(5). Files in
// /run, also those of generators, are ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "agent/tools/survey/memlock.hpp"

namespace pvrdma {

// A unit according to its files.
struct UnitFile {
  std::string path;      // the file that counts: "/lib/systemd/system/pvrdma-agent.service"
  bool enabled = false;  // another unit wants or requires it
  bool masked = false;
  friend bool operator==(const UnitFile&, const UnitFile&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Absent: no unit folder has the unit.
[[nodiscard]] Field<UnitFile> unit_file(const Root& root, const std::string& unit);

// The soft LimitMEMLOCK of a unit, from its file, its drop-ins and DefaultLimitMEMLOCK in
// system.conf, else systemd's own default. "slurmd" means slurmd.service. Absent: there is no such
// unit.
[[nodiscard]] UnitMemlock unit_memlock_on_disk(const Root& root, const std::string& unit);

// The limit of a login: that of pam_limits, else the default of services, as a service starts
// logins. Absent: the limits of PID 1 count, which are not known here.
[[nodiscard]] Field<MemlockLimit> login_memlock_on_disk(const Root& root);

// The limits of a service that sets none itself: DefaultLimitMEMLOCK, else systemd's own.
[[nodiscard]] LoginLimits default_limits(const Root& root);

// The soft limit of "8M", "64K:infinity", "infinity" (systemd.exec(5)); none: the text is not a
// limit. The place is left empty.
[[nodiscard]] std::optional<MemlockLimit> parse_memlock(std::string_view text);

}  // namespace pvrdma::probes
