// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the meeting of `verify mesh`, with machines that answer at once: CPU time of the machine
// where all meet for a pair, and for the judgement of all pairs.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/tools/verify/mesh/coordinator.hpp"
#include "tests/unit/tools/verify/free_port.hpp"
#include "tests/unit/tools/verify/simulated_machine.hpp"

using namespace pvrdma;
using namespace pvrdma::verify;

namespace {

double cpu_ms() { return static_cast<double>(cpu_us()) / 1e3; }

void measure(std::size_t size) {
  constexpr Milliseconds kLong = std::chrono::minutes{10};
  const test::FreePort port;
  const auto listener = Listener::open("127.0.0.1", port.number, 1000);
  std::vector<std::jthread> machines;
  for (std::size_t n = 0; n < size; ++n) machines.emplace_back(simulate, port.number, n, kAllPairs);
  Reception reception{&*listener, "", true};
  const BootTime began = BootClock::now();
  const double before = cpu_ms();
  const auto mesh =
      hold(reception,
           {size, size, kLong, kLong, {}, [](const PairResult&) {}, [](const std::string&) {}});
  const double held = cpu_ms() - before;
  const auto took = BootClock::now() - began;
  if (!mesh || measured(*mesh) != size * (size - 1) / 2) {
    std::fprintf(stderr, "bench-mesh: not all pairs of %zu machines were measured\n", size);
    std::exit(1);
  }
  const double judging = cpu_ms();
  static_cast<void>(judge(*mesh));
  std::printf("BENCH mesh-%zu-ms %.0f\n", size,
              static_cast<double>(took / std::chrono::milliseconds{1}));
  std::printf("BENCH mesh-%zu-cpu-us-per-pair %.1f\n", size,
              held * 1e3 / static_cast<double>(mesh->pairs.size()));
  std::printf("BENCH mesh-%zu-judgement-cpu-ms %.1f\n", size, cpu_ms() - judging);
}

}  // namespace

int main() {
  const rlimit files{4096, 4096};
  setrlimit(RLIMIT_NOFILE, &files);
  for (const std::size_t size : {3U, 64U, 1000U}) measure(size);
  return 0;
}
