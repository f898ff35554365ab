// SPDX-License-Identifier: GPL-2.0-or-later
// Loads of modules that take too long, by an `install` command that waits for a file.
#include <pthread.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>

#include "agent/executor/server.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/executor/tree.hpp"
#include "tests/unit/module_index.hpp"

namespace pvrdma::executor {

namespace {

constexpr const char* kName = "pvrdma_test_module";
constexpr Milliseconds kPatience{500};
constexpr Milliseconds kPause{10};

struct LoadsFixture {
  test::Tree tree;
  Operations operations;

  LoadsFixture() : operations{places(), kPatience} {
    test::add_adapter(tree, "ens224f0", 5);
    test::ship_module(tree, kName);
    tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
              "[modules]\nbefore = [\"" + std::string{kName} + "\"]\n");
    tree.file("/conf/install.conf",
              "install " + std::string{kName} + " echo once >>" + (tree / "/begun").string() +
                  "; until [ -e " + (tree / "/end").string() + " ]; do sleep 0.01; done; [ ! -e " +
                  (tree / "/fail").string() + " ]\n");
  }
  LoadsFixture(const LoadsFixture&) = delete;
  LoadsFixture& operator=(const LoadsFixture&) = delete;
  LoadsFixture(LoadsFixture&&) = delete;
  LoadsFixture& operator=(LoadsFixture&&) = delete;
  ~LoadsFixture() { end(); }

  [[nodiscard]] Places places() const {
    return {tree.root(), tree / "/ledger.json", tree / "/door", {tree / "/lib", {tree / "/conf"}}};
  }
  OperationResult load() { return operations.run(LoadModule{kName}, Caller::Agent); }
  // Lets the command end, and waits for that.
  void end() {
    tree.file("/end", "");
    while (operations.is_loading()) std::this_thread::sleep_for(kPause);
  }
};

}  // namespace

TEST_CASE_METHOD(LoadsFixture, "loads: one that hangs fails, and the next operation is done") {
  const BootTime began = BootClock::now();
  const OperationResult late = load();
  CHECK(late.outcome == Outcome::Failed);
  CHECK(late.code == ETIMEDOUT);
  CHECK(late.detail.find("waiting for the load of pvrdma_test_module") == 0);
  CHECK(BootClock::now() - began >= kPatience);
  CHECK(operations.is_loading());
  const auto ledger = codec::read_ledger(places().ledger);
  REQUIRE(ledger.has_value());
  REQUIRE(ledger->attempts.size() == 1);
  CHECK(ledger->attempts[0].finished);
  CHECK(ledger->attempts[0].outcome == Outcome::Failed);
  CHECK(operations.run(BindFunction{test::kFunction}, Caller::Agent).good());
}

TEST_CASE_METHOD(LoadsFixture, "loads: while one hangs no second one is started, nor waited for") {
  REQUIRE(load().code == ETIMEDOUT);
  const BootTime began = BootClock::now();
  const OperationResult second = operations.run(LoadModule{kName}, Caller::Agent);
  CHECK(second.outcome == Outcome::NotAllowed);
  CHECK(second.detail == "an earlier load of it has not ended");
  CHECK(BootClock::now() - began < kPatience);
  CHECK(tree.read("/begun") == "once\n");
  const auto ledger = codec::read_ledger(places().ledger);
  REQUIRE(ledger.has_value());
  CHECK(ledger->attempts.size() == 1);  // only the first one was a try
  CHECK(ledger->refusals.size() == 1);
}

TEST_CASE_METHOD(LoadsFixture, "loads: after the end of a late one it is tried again") {
  const bool fails = GENERATE(false, true);
  if (fails) tree.file("/fail", "");
  REQUIRE(load().code == ETIMEDOUT);
  end();
  tree.remove("/fail");
  const OperationResult next = load();
  CHECK(next.good());
  CHECK(next.detail.find("command was run") != std::string::npos);
  CHECK(tree.read("/begun") == "once\nonce\n");
}

TEST_CASE_METHOD(LoadsFixture, "loads: where no thread can be started, the load fails") {
  Loads loads{kPatience};
  pthread_attr_t before{};
  pthread_attr_t attributes{};
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  REQUIRE(pthread_getattr_default_np(&attributes) == 0);
  // More than there are addresses.
  REQUIRE(pthread_attr_setstacksize(&attributes, std::size_t{1} << 50U) == 0);
  REQUIRE(pthread_setattr_default_np(&attributes) == 0);
  const OperationResult none = loads.run("x", done);
  REQUIRE(pthread_setattr_default_np(&before) == 0);
  CHECK(none.outcome == Outcome::Failed);
  CHECK(none.code == EAGAIN);
  CHECK_FALSE(loads.under_way());
  CHECK(loads.run("x", done).good());
}

TEST_CASE_METHOD(LoadsFixture, "loads: the executor does not exit for idleness while one hangs") {
  REQUIRE(load().code == ETIMEDOUT);
  sd_event* raw = nullptr;
  REQUIRE(sd_event_new(&raw) >= 0);
  const Handle<sd_event, sd_event_unref> event{raw};
  Server server{event.get(), operations, {0, Milliseconds{20}}, {}};
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr nameless{AF_UNIX, {}};
  REQUIRE(::bind(socket.get(), &nameless, sizeof nameless.sa_family) == 0);
  REQUIRE(::listen(socket.get(), 1) == 0);
  REQUIRE(server.listen_on(std::move(socket)).has_value());
  std::thread later{[this] {
    std::this_thread::sleep_for(kPatience);
    tree.file("/end", "");
  }};
  CHECK(sd_event_loop(event.get()) == 0);
  CHECK_FALSE(operations.is_loading());
  later.join();
}

}  // namespace pvrdma::executor
