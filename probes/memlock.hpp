// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of locked memory of this process, of logins, and of units. Buffers that verbs register
// count against them.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/memlock.hpp"

namespace pvrdma::probes {

// The soft limit of getrlimit(2), which a program started from here inherits.
[[nodiscard]] Field<MemlockLimit> own_memlock();

// Whether this process has CAP_IPC_LOCK in effect, so that no limit applies (ib_umem_get(), Linux
// drivers/infiniband/core/umem.c). False in a user namespace of its own, such as a rootless
// container's, where the kernel ignores that capability.
[[nodiscard]] Field<bool> may_lock_all(const Root& root);

// The soft limit that a file of pam_limits (limits.conf(5)) sets for all users ("*"); the last line
// counts. `path` with the line becomes the limit's place.
[[nodiscard]] Field<MemlockLimit> parse_limits(const std::string& path, std::string_view text);

// The limit from /etc/security/limits.conf and limits.d/*.conf, in the order of pam_limits.
[[nodiscard]] Field<MemlockLimit> login_memlock(const Root& root);

// LimitMEMLOCK of a unit as loaded by systemd, asked over the system bus; "slurmd" means
// slurmd.service. Absent: there is no such unit. Waits half a second at most.
[[nodiscard]] UnitMemlock unit_memlock(const std::string& unit);

}  // namespace pvrdma::probes
