// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of locked memory, which RDMA applications need for their buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
