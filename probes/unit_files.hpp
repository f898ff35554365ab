// SPDX-License-Identifier: GPL-2.0-or-later
// Units as systemd will find them at the next boot, by their files: systemd.unit(5). What lies in
// /run, and what generators write there, is not looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "agent/model/memlock.hpp"

namespace pvrdma {

// A unit as its files have it.
struct UnitFile {
  std::string path;      // that counts: "/lib/systemd/system/pvrdma-agent.service"
  bool enabled = false;  // another unit wants or requires it
  bool masked = false;
  friend bool operator==(const UnitFile&, const UnitFile&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Absent: no folder of units has it.
[[nodiscard]] Field<UnitFile> unit_file(const Root& root, const std::string& unit);

// LimitMEMLOCK of a unit, its soft part, by its file, drop-ins and DefaultLimitMEMLOCK of systemd's
// system.conf, else systemd's own default. "slurmd" is slurmd.service. Absent: there is no such
// unit.
[[nodiscard]] UnitMemlock unit_memlock_on_disk(const Root& root, const std::string& unit);

// Of a login: what pam_limits sets, else what every service gets, as logins are such a one's.
[[nodiscard]] Field<MemlockLimit> login_memlock_on_disk(const Root& root);

// The soft limit of "8M", "64K:infinity", "infinity" (systemd.exec(5)); none: it is no limit. The
// place is left empty.
[[nodiscard]] std::optional<MemlockLimit> parse_memlock(std::string_view text);

}  // namespace pvrdma::probes
