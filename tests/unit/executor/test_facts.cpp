// SPDX-License-Identifier: GPL-2.0-or-later
// The holders that count for the guard: the agent's own questions to a port end by themselves.
#include "agent/executor/facts.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"

namespace pvrdma::executor {

namespace {

// A process that ends when it is killed, and holds the adapter in the tree.
struct HolderFixture {
  test::Tree tree;
  pid_t pid = 0;
  std::string folder;

  HolderFixture() {
    test::add_adapter(tree, "v0", 99999);
    pid = ::fork();
    if (pid == 0)
      for (;;) ::pause();
    REQUIRE(pid > 0);
    folder = "/proc/" + std::to_string(pid);
    tree.link(folder + "/fd/3", "/dev/infiniband/uverbs0");
    tree.file("/sys/module/vmw_pvrdma/refcnt", "1\n");
    tree.file("/proc/modules", "vmw_pvrdma 81920 1 - Live 0x0000000000000000\n");
  }
  ~HolderFixture() { end(); }
  HolderFixture(const HolderFixture&) = delete;
  HolderFixture& operator=(const HolderFixture&) = delete;

  void named(const std::string& command) { tree.file(folder + "/comm", command + "\n"); }
  void end() {
    if (pid == 0) return;
    tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
    std::filesystem::remove_all(tree / folder);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }
  [[nodiscard]] std::string seen() const {
    const Facts facts = look(tree.root());
    REQUIRE(facts.holders.is_known());
    std::string commands;
    for (const Holder& holder : *facts.holders.get()) commands += holder.command + " ";
    return commands;
  }
  // What a look sees during which the process ends after this time.
  std::string seen_while_it_ends(Milliseconds after) {
    std::thread ending{[this, after] {
      std::this_thread::sleep_for(after);
      end();
    }};
    std::string holders = seen();
    ending.join();
    return holders;
  }
};

}  // namespace

TEST_CASE_METHOD(HolderFixture, "facts: a port-query that ends soon holds nothing") {
  named("port-query");
  CHECK(seen_while_it_ends(Milliseconds{100}).empty());
}

TEST_CASE_METHOD(HolderFixture, "facts: a port-query that does not end is a holder like others") {
  named("port-query");
  CHECK(seen() == "port-query ");
}

TEST_CASE_METHOD(HolderFixture, "facts: for another program nothing waits") {
  named("mpirun");
  // A look that waited would last until the process ends, within the second that a port-query gets.
  CHECK(seen_while_it_ends(Milliseconds{900}) == "mpirun ");
}

}  // namespace pvrdma::executor
