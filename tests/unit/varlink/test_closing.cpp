// SPDX-License-Identifier: GPL-2.0-or-later
// Sockets that hold passed descriptors: other processes close them, and few wait for that.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "agent/varlink/closing.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/passing.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

auto open_here() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return std::distance(begin(all), end(all));
}

bool set_soft_limit(__rlimit_resource_t which, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0) return false;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  return ::setrlimit(which, &limit) == 0;
}

// Runs this in a process of a user who may start none, and returns its exit status.
template <typename Work>
int without_processes(Work work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool ready = set_soft_limit(RLIMIT_NOFILE, 2048) &&
                       ::setresuid(AsNobody::kUid, AsNobody::kUid, AsNobody::kUid) == 0 &&
                       set_soft_limit(RLIMIT_NPROC, 0);
    ::_exit(ready ? work() : 99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void close_one_with_a_descriptor() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) ::_exit(98);
  const Fd theirs{ends[1]};
  if (!pass(theirs.get(), "x", Fd{::eventfd(0, EFD_CLOEXEC)})) ::_exit(97);
  varlink::close_connected(Fd{ends[0]});
}

}  // namespace

TEST_CASE("sockets with passed descriptors do not pile up, and each is closed") {
  std::array<Lingering, 3> lingering;
  for (auto& [other_end, connection] : lingering) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    Fd ours{ends[0]};
    const Fd theirs{ends[1]};
    REQUIRE(pass(theirs.get(), "x", std::move(connection)));
    std::array<int, 2> pipe{};
    REQUIRE(::pipe2(pipe.data(), O_CLOEXEC) == 0);
    const Fd reader{pipe[0]};
    REQUIRE(pass(theirs.get(), "y", Fd{pipe[1]}));
    const auto before = open_here();
    const auto start = std::chrono::steady_clock::now();
    varlink::close_connected(std::move(ours));
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    CHECK(open_here() == before - 1);
    // The other process has closed its copy, too.
    pollfd closed{reader.get(), 0, 0};
    CHECK(::poll(&closed, 1, 5'000) == 1);
  }
}

TEST_CASE("sockets wait until a process can be started that closes them") {
  if (::geteuid() != 0) return;
  const int more = without_processes([] {
    const auto before = open_here();
    for (int n = 0; n < 3; ++n) close_one_with_a_descriptor();
    if (open_here() != before + 3) return 96;
    if (!set_soft_limit(RLIMIT_NPROC, RLIM_INFINITY)) return 95;
    varlink::finish_closing();
    if (open_here() != before) return 94;
    // Waits for the end of that process, but leaves it to the next call.
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0) return 93;
    varlink::finish_closing();
    return ::waitpid(-1, nullptr, 0) == -1 ? 0 : 92;
  });
  CHECK(more == 0);
}

TEST_CASE("a program ends before sockets that it cannot close have taken all descriptors") {
  if (::geteuid() != 0) return;
  const auto close_some = [](int number) {
    return without_processes([number] {
      for (int n = 0; n < number; ++n) close_one_with_a_descriptor();
      return 0;
    });
  };
  CHECK(close_some(768) == 0);
  CHECK(close_some(769) == EXIT_FAILURE);
}
