// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of locked memory, which verbs count registered buffers against: of this process, of
// logins, and of units.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/memlock.hpp"

namespace pvrdma::probes {

// getrlimit(2), the soft limit: what a program started from here gets.
[[nodiscard]] Field<MemlockLimit> own_memlock();

// Whether this process has CAP_IPC_LOCK in effect: then no limit counts (ib_umem_get(), Linux
// drivers/infiniband/core/umem.c). In a user namespace of its own, as a rootless container has,
// that capability does not count there.
[[nodiscard]] Field<bool> may_lock_all(const Root& root);

// What a file of pam_limits (limits.conf(5)) sets for everybody ("*"), the last line counting: soft
// where it has one, else both. `path` becomes the limit's place, with the line.
[[nodiscard]] Field<MemlockLimit> parse_limits(const std::string& path, std::string_view text);

// Of /etc/security/limits.conf and limits.d/*.conf, in the order of pam_limits.
[[nodiscard]] Field<MemlockLimit> login_memlock(const Root& root);

// LimitMEMLOCK of a unit as systemd has it loaded, asked over the system bus; "slurmd" is
// slurmd.service. Absent: there is no such unit. Bounded: half a second.
[[nodiscard]] UnitMemlock unit_memlock(const std::string& unit);

}  // namespace pvrdma::probes
