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

  void named(const std::string& command, char state = 'S') {
    tree.file(folder + "/comm", command + "\n");
    tree.file(folder + "/stat",
              std::to_string(pid) + " (" + command + ") " + state + " 1 812 812 0 -1 4194304 0\n");
  }
  // As those of another user's process are for the executor.
  void hide_fds() const {
    tree.remove(folder + "/fd");
    tree.unreadable(folder + "/fd");
  }
  void end() {
    if (pid == 0) return;
    tree.file("/proc/modules", "vmw_pvrdma 81920 0 - Live 0x0000000000000000\n");
    tree.file("/sys/module/vmw_pvrdma/refcnt", "0\n");
    std::filesystem::remove_all(tree / folder);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }
  // A look during which the process ends after this time.
  Facts look_while_it_ends(Milliseconds after) {
    std::thread ending{[this, after] {
      std::this_thread::sleep_for(after);
      end();
    }};
    Facts facts = look(tree.root());
    ending.join();
    return facts;
  }
};

std::string commands(const Facts& facts) {
  REQUIRE(facts.holders.is_known());
  std::string commands;
  for (const Holder& holder : *facts.holders.get()) commands += holder.command + " ";
  return commands;
}

// Why a reload is refused; Done: it is allowed.
Outcome refused(const Facts& facts) {
  const auto no = refusal(ReloadDriver{}, Config{}, facts);
  return no ? no->outcome : Outcome::Done;
}

// A look that waited would last until the process ends, within the second that a port-query gets.
constexpr Milliseconds kNearlyTheSecond{900};

}  // namespace

TEST_CASE_METHOD(HolderFixture, "facts: a port-query that ends soon holds nothing") {
  named("port-query");
  SECTION("it is named") {}
  SECTION("its files are hidden") { hide_fds(); }
  const Facts facts = look_while_it_ends(Milliseconds{100});
  CHECK(commands(facts).empty());
  CHECK(refused(facts) == Outcome::Done);
}

TEST_CASE_METHOD(HolderFixture, "facts: a port-query that does not end is a holder like others") {
  named("port-query");
  SECTION("it is named") {
    const Facts facts = look(tree.root());
    CHECK(commands(facts) == "port-query ");
    CHECK(refused(facts) == Outcome::InUse);
  }
  SECTION("its files are hidden") {
    hide_fds();
    CHECK(refused(look(tree.root())) == Outcome::NotAllowed);
  }
}

TEST_CASE_METHOD(HolderFixture, "facts: for another program nothing waits") {
  SECTION("it is named") {
    named("mpirun");
    CHECK(commands(look_while_it_ends(kNearlyTheSecond)) == "mpirun ");
  }
  SECTION("its files are hidden") {
    named("mpirun");
    hide_fds();
    CHECK(look_while_it_ends(kNearlyTheSecond).holders.is_unreadable());
  }
  SECTION("its files are hidden, and a port-query is not reaped yet") {
    named("port-query", 'Z');
    hide_fds();
    CHECK(look_while_it_ends(kNearlyTheSecond).holders.is_unreadable());
  }
}

}  // namespace pvrdma::executor
