#include "agent/model/memlock.hpp"

namespace pvrdma {

bool is_low(const MemlockLimit& limit) { return limit.bytes && *limit.bytes < kLargeMemlockBytes; }

std::string text_of(const MemlockLimit& limit) {
  constexpr std::uint64_t kKiB = 1024;
  if (!limit.bytes) return "unlimited";
  if (*limit.bytes >= kKiB * kKiB) return std::to_string(*limit.bytes / kKiB / kKiB) + " MiB";
  return std::to_string(*limit.bytes / kKiB) + " KiB";
}

}  // namespace pvrdma
