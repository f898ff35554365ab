// SPDX-License-Identifier: GPL-2.0-or-later
// The table of targets, and libFuzzer's entry point: PVRDMA_FUZZ names the target.
#include <array>

#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

std::span<const Named> targets() {
  static constexpr std::array<Named, 14> kTargets{{{"client", client},
                                                   {"config", config},
                                                   {"control", control},
                                                   {"executor_json", executor_json},
                                                   {"figures", figures},
                                                   {"health", health},
                                                   {"initramfs", initramfs},
                                                   {"ledger", ledger},
                                                   {"mesh", mesh},
                                                   {"netlink", netlink},
                                                   {"proc", proc},
                                                   {"recipe", recipe},
                                                   {"serve", serve},
                                                   {"service", service}}};
  return kTargets;
}

namespace {

Target chosen() {
  const char* const name = std::getenv("PVRDMA_FUZZ");
  for (const Named& target : targets())
    if (name != nullptr && target.name == std::string_view{name}) return target.run;
  std::fprintf(stderr, "PVRDMA_FUZZ names no target of:");
  for (const Named& target : targets()) std::fprintf(stderr, " %s", target.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

}  // namespace pvrdma::fuzz

// Declared as in libFuzzer's interface (llvm.org/docs/LibFuzzer.html).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const pvrdma::fuzz::Target kRun = pvrdma::fuzz::chosen();
  kRun({reinterpret_cast<const char*>(data), size});
  return 0;
}
