// SPDX-License-Identifier: GPL-2.0-or-later
// The table of targets, and libFuzzer's entry point: PVRDMA_FUZZ names the target.
#include <array>

#include "tests/fuzz/target.hpp"

namespace pvrdma::fuzz {

std::span<const Named> targets() {
  // Where a run waits for answers, or is slow, there are fewer mutations.
  static constexpr std::array<Named, 15> kTargets{{{"client", client},
                                                   {"config", config, 100},
                                                   {"control", control, 10},
                                                   {"executor_json", executor_json},
                                                   {"figures", figures},
                                                   {"health", health},
                                                   {"host_output", host_output, 50},
                                                   {"initramfs", initramfs, 2},
                                                   {"ledger", ledger},
                                                   {"mesh", mesh, 10},
                                                   {"netlink", netlink},
                                                   {"proc", proc},
                                                   {"recipe", recipe},
                                                   {"serve", serve, 10},
                                                   {"service", service, 50}}};
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
