// SPDX-License-Identifier: GPL-2.0-or-later
// pvrdma-selftest DEVICE GID_INDEX TIMEOUT_MS: the part of `pvrdma-agentctl selftest` that needs
// libibverbs. Prints the lines of protocol.hpp; exit status 0: passed, 1: failed.
//
// This is a program of its own, so that pvrdma-agentctl runs without libibverbs, and because a
// verbs call may hang in the kernel, where no signal reaches it: pvrdma-agentctl then reports that.
// The agent and `rdma resource` show by its name who holds the device.
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "agent/base/held_signals.hpp"
#include "agent/base/text.hpp"
#include "agent/tools/verify/selftest/exchange.hpp"

namespace {

using namespace pvrdma::ctl::selftest;
using pvrdma::number_from;

// Flushes each line: when the parent ends a helper that hangs, it has read the last step.
void tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// With this capability the kernel ignores the memlock limit (Linux drivers/infiniband/core/umem.c).
bool may_lock_all() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  return ::syscall(SYS_capget, &header, sets.data()) == 0 &&
         (sets[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

std::string memlock() {
  rlimit limit{};
  if (may_lock_all() || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "unlimited";
  return std::to_string(limit.rlim_cur);
}

Stepped<void> test(Endpoint& endpoint, const char* device, int gid_index,
                   Clock::time_point deadline) {
  const auto begin = [](Step step) { tell(std::string{"step="} + words_of(step).id); };
  auto connected = [&] {
    const pvrdma::HeldSignals held;
    return connect(endpoint, device, gid_index, begin);
  }();
  if (!connected) return connected;
  Completions completions{endpoint, deadline};
  begin(Step::Message);
  if (auto done = exchange_message(endpoint, completions); !done) return done;
  begin(Step::Rounds);
  const auto times = exchange_rounds(endpoint, completions);
  if (!times) return tl::unexpected<Failure>(times.error());
  if (const auto latency = latency_of(*times))
    tell("latency_ns=" + std::to_string(latency->median.count()) + " " +
         std::to_string(latency->p99.count()) + " " + std::to_string(latency->max.count()));
  begin(Step::Write);
  const auto why_not = write_remotely(endpoint, completions);
  if (!why_not) return tl::unexpected<Failure>(why_not.error());
  tell(*why_not ? "write=not-offered " + **why_not : "write=proved");
  begin(Step::Release);
  const pvrdma::HeldSignals held;
  return release(endpoint);
}

}  // namespace

int main(int count, char** arguments) {
  const int gid_index = count == 4 ? number_from<int>(arguments[2]).value_or(-1) : -1;
  const int timeout_ms = count == 4 ? number_from<int>(arguments[3]).value_or(-1) : -1;
  if (gid_index < 0 || timeout_ms <= 0) {
    std::fprintf(stderr, "usage: pvrdma-selftest DEVICE GID_INDEX TIMEOUT_MS\n");
    return 2;
  }
  // If pvrdma-agentctl dies, this process must not go on holding the device.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::alarm(static_cast<unsigned>(timeout_ms) / 1000 + 2);
  tell("memlock=" + memlock());
  const auto deadline = Clock::now() + std::chrono::milliseconds{timeout_ms};
  // After a failure the release may take ten seconds, longer than the parent waits: the failure is
  // told before.
  Endpoint endpoint;
  const auto done = test(endpoint, arguments[1], gid_index, deadline);
  if (!done) {
    tell("failed=" + std::to_string(done.error().code) + " " + std::to_string(done.error().status) +
         " " + done.error().what);
    return EXIT_FAILURE;
  }
  tell("passed=");
  return EXIT_SUCCESS;
}
