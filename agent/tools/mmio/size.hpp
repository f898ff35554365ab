// How much 64-bit MMIO space a VM with passed-through GPUs is to be given. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pvrdma::ctl::gpu {

// So many GPUs with so much framebuffer each.
struct Gpus {
  unsigned count = 0;
  unsigned framebuffer_gb = 0;
  friend bool operator==(const Gpus&, const Gpus&) = default;
};

inline constexpr unsigned kMostGpus = 64;
inline constexpr unsigned kMostGb = 1024;
inline constexpr const char* kGpusRule =
    "must be COUNTxGB or GB, as 2x40: up to 64 GPUs of up to 1024 GB each";

// "2x40", "2x40GB", "40", "40gb"; none where kGpusRule is not kept.
[[nodiscard]] std::optional<Gpus> parse_gpus(std::string_view text);

// pciPassthru.64bitMMIOSizeGB for so many GB of framebuffer in all, which is more than none.
// VMware's rule: a sum that is a power of two goes to the next one, any other is rounded up to a
// power of two and then doubled.
[[nodiscard]] std::uint64_t mmio_size_gb(std::uint64_t framebuffer_gb);

}  // namespace pvrdma::ctl::gpu
