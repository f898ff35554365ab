// SPDX-License-Identifier: GPL-2.0-or-later
// A look that does not return from the kernel: the agent reports that and stays, as a new agent's
// look would hang as well.
#include <atomic>
#include <thread>

#include "tests/unit/catch.hpp"
#include "tests/unit/daemon/machine.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kFed = "WATCHDOG=1";

// Looks that wait from now on until they are released.
struct HangingMachine {
  Manager manager;
  Machine machine;
  std::atomic<bool> hangs = false;
  std::atomic<bool> hung = false;

  HangingMachine() {
    machine.see([this](Snapshot&) {
      while (hangs) {
        hung = true;
        std::this_thread::sleep_for(1ms);
      }
    });
  }
  ~HangingMachine() { hangs = false; }
  HangingMachine(const HangingMachine&) = delete;
  HangingMachine& operator=(const HangingMachine&) = delete;
  HangingMachine(HangingMachine&&) = delete;
  HangingMachine& operator=(HangingMachine&&) = delete;

  void start() { machine.start(1h, 1h, 100ms); }
  // The number of watchdog messages since the last call.
  [[nodiscard]] int fed() const {
    int times = 0;
    for (const std::string& word : manager.heard())
      if (word == kFed) ++times;
    return times;
  }
  [[nodiscard]] bool is_fed(int times) const {
    int seen = 0;
    return machine.loop.run_until([&] { return (seen += fed()) >= times; });
  }
};

}  // namespace

TEST_CASE_METHOD(HangingMachine,
                 "daemon: a look that hangs is reported, and keeps the agent alive") {
  start();
  REQUIRE(machine.becomes("ready"));
  CHECK_FALSE(machine.has_finding("look-stuck"));
  hangs = true;
  auto refreshing = machine.client();
  REQUIRE(refreshing.call(R"({"method":"io.pvrdma.Agent.Refresh"})"));
  REQUIRE(machine.loop.run_until([&] { return hung.load(); }));
  static_cast<void>(fed());
  REQUIRE(machine.loop.run_until([&] { return machine.has_finding("look-stuck"); }));
  const auto answer = refreshing.receive();
  REQUIRE(answer);
  CHECK(answer->find("look-stuck") != std::string::npos);
  CHECK(is_fed(3));
  hangs = false;
  REQUIRE(machine.loop.run_until([&] { return !machine.has_finding("look-stuck"); }));
  CHECK(machine.becomes("ready"));
}

TEST_CASE_METHOD(HangingMachine, "daemon: the first look can hang too, before anything is known") {
  hangs = true;
  start();
  REQUIRE(machine.loop.run_until([&] { return machine.has_finding("look-stuck"); }));
  CHECK(machine.health()["state"] == "unknown");
  CHECK(is_fed(2));
  hangs = false;
  CHECK(machine.becomes("ready"));
  CHECK_FALSE(machine.has_finding("look-stuck"));
}

TEST_CASE_METHOD(HangingMachine, "daemon: without a look under way no silence feeds the watchdog") {
  start();
  REQUIRE(machine.becomes("ready"));
  // Waits past the last look that follows from another.
  machine.loop.run_until([] { return false; }, 500ms);
  static_cast<void>(fed());
  machine.loop.run_until([] { return false; }, 500ms);
  CHECK(fed() == 0);
}
