// SPDX-License-Identifier: GPL-2.0-or-later
// A network namespace for one test, with a pair of links in it.
#pragma once

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::test {

// The output of a shell command, which must succeed.
inline std::string run(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> chunk{};
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe))
    output.append(chunk.data(), got);
  const int status = ::pclose(pipe);
  INFO(command << "\n" << output);
  REQUIRE(status == 0);
  return output;
}

// The destructor brings the calling thread back into its own namespace.
class Namespace {
 public:
  Namespace() : home_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
    entered_ =
        home_ && std::system("command -v ip >/dev/null 2>&1") == 0 && ::unshare(CLONE_NEWNET) == 0;
    if (!entered_) WARN("skipped: needs root, ip(8) and network namespaces");
  }
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;
  Namespace(Namespace&&) = delete;
  Namespace& operator=(Namespace&&) = delete;
  ~Namespace() {
    if (entered_) static_cast<void>(::setns(home_.get(), CLONE_NEWNET));
  }
  [[nodiscard]] bool entered() const { return entered_; }

 private:
  Fd home_;
  bool entered_ = false;
};

inline int index_of_link(const char* name) { return static_cast<int>(::if_nametoindex(name)); }

// Waits for ten seconds at most; duplicate address detection sends no event that ip(8) could wait
// for.
inline void wait_until_addresses_are_valid(const std::string& link) {
  for (int i = 0; i < 200; ++i) {
    if (run("ip -6 address show dev " + link + " tentative").empty()) return;
    ::poll(nullptr, 0, 50);
  }
  FAIL("addresses stay tentative");
}

}  // namespace pvrdma::test
