// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of locked memory of this process, of logins, and of units. Buffers that verbs register
// count against them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

struct MemlockLimit {
  std::optional<std::uint64_t> bytes;  // none: unlimited
  std::string place{};  // where the limit is set: "/etc/security/limits.conf:12"; empty: not known
  friend bool operator==(const MemlockLimit&, const MemlockLimit&) = default;
};
struct UnitMemlock {
  std::string unit;           // "slurmd.service"
  Field<MemlockLimit> limit;  // absent: there is no such unit
  friend bool operator==(const UnitMemlock&, const UnitMemlock&) = default;
};

// Below this a limit of locked memory is too low: MPI libraries and NCCL register hundreds of MiB
// for each process. systemd's default is 8 MiB.
inline constexpr std::uint64_t kLargeMemlockBytes = 1ULL << 30U;
[[nodiscard]] inline bool is_low(const MemlockLimit& limit) {
  return limit.bytes && *limit.bytes < kLargeMemlockBytes;
}
// "8 MiB", "unlimited"
[[nodiscard]] inline std::string text_of(const MemlockLimit& limit) {
  constexpr std::uint64_t kKiB = 1024;
  if (!limit.bytes) return "unlimited";
  if (*limit.bytes >= kKiB * kKiB) return std::to_string(*limit.bytes / kKiB / kKiB) + " MiB";
  return std::to_string(*limit.bytes / kKiB) + " KiB";
}

}  // namespace pvrdma

namespace pvrdma::probes {

// The soft limit of getrlimit(2), which a program started from here inherits.
[[nodiscard]] Field<MemlockLimit> own_memlock();

// Whether this process has CAP_IPC_LOCK in effect, so that no limit applies (ib_umem_get(), Linux
// drivers/infiniband/core/umem.c). False in a user namespace of its own, such as a rootless
// container's, where the kernel ignores that capability.
[[nodiscard]] Field<bool> may_lock_all(const Root& root);

// The limits of all users ("*") that lines set, or that a login has without lines.
struct LoginLimits {
  Field<MemlockLimit> soft, hard;
};
// Takes the lines of a file of pam_limits (limits.conf(5)); of each kind the last one counts.
// `path` with the line becomes the limit's place.
void take_limits(const std::string& path, std::string_view text, LoginLimits& limits);

// The limits that a login has where no line sets them. In Debian up to 12 and Ubuntu up to 24.04,
// and by the option set_all, pam_limits gives it those of PID 1; both are absent where they cannot
// be read, as in an image. Elsewhere a login keeps the limits of the service that starts it.
[[nodiscard]] LoginLimits limits_without_lines(const Root& root);

// The soft limit of a login from /etc/security/limits.conf and limits.d/*.conf, in the order of
// pam_limits, which cuts it to the hard limit. Absent: no line sets a soft limit, or the hard one
// is not known.
[[nodiscard]] Field<MemlockLimit> login_memlock(const Root& root);

// LimitMEMLOCK of a unit as loaded by systemd, asked over the system bus; "slurmd" means
// slurmd.service. Absent: there is no such unit. Waits half a second at most.
[[nodiscard]] UnitMemlock unit_memlock(const std::string& unit);

}  // namespace pvrdma::probes
