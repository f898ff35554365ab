// SPDX-License-Identifier: GPL-2.0-or-later
// `mmio`: the VM's settings for passed-through GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MmioOptions {
  std::vector<std::string> gpus;  // in the form of gpu::parse_gpus; none: the GPUs of this guest
  Root root;
};

// 0: printed; 3: there is no GPU, or the result is doubtful.
int mmio(const Settings& settings, const Console& console, const MmioOptions& options);

namespace gpu {

// A number of GPUs with the same framebuffer each.
struct Gpus {
  unsigned count = 0;
  unsigned framebuffer_gb = 0;
  friend bool operator==(const Gpus&, const Gpus&) = default;
};

inline constexpr const char* kGpusRule =
    "must be COUNTxGB or GB, as 2x40: up to 64 GPUs of up to 1024 GB each";

// Reads "2x40", "2x40GB", "40", "40gb"; none: the text breaks kGpusRule.
[[nodiscard]] std::optional<Gpus> parse_gpus(std::string_view text);

// pciPassthru.64bitMMIOSizeGB for a sum of framebuffers in GB, above zero. VMware's rule: a sum
// that is a power of two goes to the next one; any other is rounded up to a power of two and then
// doubled.
[[nodiscard]] std::uint64_t mmio_size_gb(std::uint64_t framebuffer_gb);

}  // namespace gpu

}  // namespace pvrdma::ctl
