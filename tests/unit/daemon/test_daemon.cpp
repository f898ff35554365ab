// SPDX-License-Identifier: GPL-2.0-or-later
// The whole daemon: looks, plans, calls of the executor and answers to all clients, on a real loop
// and real sockets.
#include "agent/daemon/daemon.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <thread>

#include "tests/unit/daemon/machine.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

const std::string kWatchHealth = R"({"method":"io.pvrdma.Agent.WatchHealth","more":true})";

// The state in the next reply of a watch.
std::string next_state(RawClient& watcher) {
  const auto message = watcher.receive();
  REQUIRE(message);
  return nlohmann::json::parse(*message)["parameters"]["health"]["state"];
}

void wait_while(const std::atomic<bool>& hangs) {
  while (hangs) std::this_thread::sleep_for(1ms);
}

const std::string kReloadCall = R"({"method":"io.pvrdma.Agent.Reload"})";
constexpr const char* kTooLong = "the driver did not come to a state in which it can be reloaded";

// The answer to an earlier call.
nlohmann::json answer_to(RawClient& asking) {
  const auto message = asking.receive();
  REQUIRE(message);
  return nlohmann::json::parse(*message);
}

long count_of(const Texts& messages, const std::string& wanted) {
  return std::count(messages.begin(), messages.end(), wanted);
}

// A machine with a ready adapter.
struct ReadyMachine : Machine {
  explicit ReadyMachine(Milliseconds reload_limit = std::chrono::hours{1}) {
    start(std::chrono::hours{1}, reload_limit);
    REQUIRE(becomes("ready"));
    asked.clear();
  }
};

}  // namespace

TEST_CASE("daemon: from a driver that is not loaded to ready, and all clients are told") {
  const Manager manager;
  Machine machine;
  std::atomic<bool> hangs = true;
  machine.see([&](Snapshot&) { wait_while(hangs); });
  machine.start();
  auto watcher = machine.client();
  REQUIRE(watcher.call(kWatchHealth));
  Texts states{next_state(watcher)};
  hangs = false;
  while (states.back() != "ready") states.push_back(next_state(watcher));
  CHECK(states.front() == "unknown");
  CHECK(count_of(states, "converging") > 0);
  CHECK(machine.asked == Texts{"LoadModule mlx4_ib", "LoadModule ib_umad", "LoadModule rdma_cm",
                               "LoadModule rdma_ucm", "LoadModule vmw_pvrdma",
                               "ConfigureLink 0000:00:10.1"});
  const Texts heard = manager.heard();
  CHECK(count_of(heard, "READY=1") == 1);
  CHECK(count_of(heard, "WATCHDOG=1") > 0);
  CHECK(count_of(heard, "STATUS=ready: 1 of 1 adapters ready") == 1);
  CHECK(machine.ask("GetPlan")["plan"]["actions"].empty());
}

TEST_CASE("daemon: watchers are told of changes, not of unchanged looks") {
  ReadyMachine machine;
  auto watcher = machine.client();
  REQUIRE(watcher.call(kWatchHealth));
  CHECK(next_state(watcher) == "ready");
  for (int look = 0; look < 3; ++look) CHECK(machine.ask("Refresh")["health"]["state"] == "ready");
  machine.change([](KernelModel& model) { model.adapters[0].host_holds_down = true; });
  CHECK(machine.ask("Refresh")["health"]["state"] == "converging");
  CHECK(next_state(watcher) == "converging");
}

TEST_CASE("daemon: a reload is carried out, and its caller is told when it has ended") {
  ReadyMachine machine;
  const auto told = machine.ask("Reload", {{"adapter", "ens10"}});
  CHECK_FALSE(told.contains("error"));
  CHECK(told["health"].contains("state"));
  CHECK(machine.asked.at(0) == "ReloadDriver vmw_pvrdma");
  CHECK(machine.ask("Refresh")["health"]["executor"]["reloads"] == 1);
  CHECK(machine.becomes("ready"));
}

TEST_CASE("daemon: a forbidden reload is refused, with the reason") {
  ReadyMachine machine;
  SECTION("an adapter is held") {
    machine.change([](KernelModel& model) { model.adapters[0].held = true; });
    const auto told = machine.ask("Reload");
    CHECK(told["error"] == "io.pvrdma.Agent.InUse");
    CHECK(told["holders"][0]["command"] == "job");
    // No caller waits for the reload any more.
    CHECK(machine.health()["state"] == "ready");
    CHECK_FALSE(machine.has_finding("driver-in-use"));
  }
  SECTION("there is no such adapter") {
    const auto told = machine.ask("Reload", {{"adapter", "eth7"}});
    CHECK(told["error"] == "io.pvrdma.Agent.NoSuchAdapter");
    CHECK(told["adapter"] == "eth7");
  }
  SECTION("there is none at all") {
    machine.change([](KernelModel& model) { model.adapters.clear(); });
    CHECK(machine.ask("Refresh")["health"]["adapters"].empty());
    CHECK(machine.ask("Reload")["reason"] == "this VM has no PVRDMA adapter");
  }
  SECTION("another call is under way") {
    machine.executor_hangs = true;
    auto first = machine.client();
    REQUIRE(first.call(kReloadCall));
    REQUIRE(machine.loop.run_until([&] { return !machine.asked.empty(); }));
    CHECK(machine.ask("Reload")["reason"] == "ReloadDriver vmw_pvrdma is still under way");
    CHECK(machine.asked.size() == 1);
    return;
  }
  CHECK(machine.asked.empty());
}

TEST_CASE("daemon: a reload that is planned but not begun is refused for a job") {
  ReadyMachine machine;
  machine.lose_executor();
  machine.change([](KernelModel& model) { model.adapters[0].up = false; });
  static_cast<void>(machine.ask("Refresh"));
  REQUIRE(machine.loop.run_until([&] { return machine.has_finding("executor-missing"); }));
  // In the pause after it the link comes up without us.
  machine.change([](KernelModel& model) { model.adapters[0].up = true; });
  REQUIRE(machine.ask("Refresh")["health"]["state"] == "ready");
  auto asking = machine.client();
  REQUIRE(asking.call(kReloadCall));
  REQUIRE(
      machine.loop.run_until([&] { return !machine.ask("GetPlan")["plan"]["actions"].empty(); }));
  machine.change([](KernelModel& model) { model.adapters[0].held = true; });
  static_cast<void>(machine.ask("Refresh"));
  CHECK(answer_to(asking)["error"] == "io.pvrdma.Agent.InUse");
  machine.change([](KernelModel& model) { model.adapters[0].held = false; });
  static_cast<void>(machine.ask("Refresh"));
  CHECK(machine.ask("GetPlan")["plan"]["actions"].empty());
}

TEST_CASE("daemon: a reload that is asked for during the first look is decided by that look") {
  Machine machine;
  std::atomic<bool> hangs = true;
  machine.see([&](Snapshot&) { wait_while(hangs); });
  SECTION("an adapter") {
    machine.start();
    auto asking = machine.client();
    REQUIRE(asking.call(R"({"method":"io.pvrdma.Agent.Reload","parameters":{"adapter":"ens10"}})"));
    CHECK(machine.health()["state"] == "unknown");
    hangs = false;
    CHECK_FALSE(answer_to(asking).contains("error"));
    CHECK(count_of(machine.asked, "ReloadDriver vmw_pvrdma") == 1);
  }
  SECTION("no adapter") {
    machine.change([](KernelModel& model) { model.adapters.clear(); });
    machine.start();
    auto asking = machine.client();
    REQUIRE(asking.call(kReloadCall));
    CHECK(machine.health()["state"] == "unknown");
    hangs = false;
    CHECK(answer_to(asking)["parameters"]["reason"] == "this VM has no PVRDMA adapter");
  }
}

TEST_CASE("daemon: unreadable adapters are not reported as absent") {
  ReadyMachine machine{100ms};
  machine.see([](Snapshot& seen) {
    seen.adapters = Field<std::vector<Adapter>>::unreadable({EIO, "reading", "the PCI bus"});
  });
  REQUIRE(machine.ask("Refresh")["health"]["adapters"].empty());
  CHECK(machine.ask("Reload", {{"adapter", "ens10"}})["reason"] ==
        std::string{kTooLong} +
            ": A part of the state is not known: reading the PCI bus: Input/output error.");
}

TEST_CASE("daemon: a reload is not refused for a look that began before it") {
  ReadyMachine machine;
  std::atomic<bool> hangs = true;
  std::atomic<bool> seen_held = false;
  machine.see([&](Snapshot& seen) {
    if (!hangs) return;
    seen.holders = std::vector<Holder>{{100, "job", "rocep0s16"}};
    seen_held = true;
    wait_while(hangs);
  });
  auto looking = machine.client();
  REQUIRE(looking.call(R"({"method":"io.pvrdma.Agent.Refresh"})"));
  REQUIRE(machine.loop.run_until([&] { return seen_held.load(); }));
  const BootTime began = BootClock::now();
  REQUIRE(machine.loop.run_until([&] { return BootClock::now() > began; }));
  auto asking = machine.client();
  REQUIRE(asking.call(kReloadCall));
  CHECK(machine.health()["state"] == "ready");
  hangs = false;
  CHECK_FALSE(answer_to(asking).contains("error"));
  CHECK(machine.asked == Texts{"ReloadDriver vmw_pvrdma"});
}

TEST_CASE("daemon: a reload is given up in time although no look ends") {
  ReadyMachine machine{100ms};
  std::atomic<bool> hangs = true;
  machine.see([&](Snapshot&) { wait_while(hangs); });
  auto asking = machine.client();
  REQUIRE(asking.call(kReloadCall));
  const auto answer = asking.receive();
  hangs = false;
  REQUIRE(answer);
  CHECK(nlohmann::json::parse(*answer)["parameters"]["reason"] == kTooLong);
  REQUIRE(machine.ask("Refresh")["health"]["state"] == "ready");
  CHECK(machine.asked.empty());
}

TEST_CASE("daemon: the configuration read again counts at once; a bad one is a finding") {
  Machine machine;
  machine.configure("[modules]\nreload = \"auto\"\n");
  Daemon& daemon = machine.start();
  REQUIRE(machine.becomes("ready"));
  machine.configure("[modules]\nreload = \"sometimes\"\n");
  daemon.reload_config();
  CHECK(machine.has_finding("config-bad"));
  machine.configure("[modules]\nreload = \"never\"\n");
  daemon.reload_config();
  CHECK_FALSE(machine.has_finding("config-bad"));
  CHECK(machine.ask("Reload")["reason"] == "modules.reload is \"never\" in the configuration");
}

TEST_CASE("daemon: an adapter that was removed is reported until it is acknowledged") {
  ReadyMachine machine;
  machine.change([](KernelModel& model) { model.adapters.clear(); });
  CHECK(machine.ask("Refresh")["health"]["state"] == "degraded");
  CHECK(machine.has_finding("adapter-removed"));
  CHECK(machine.ask("Acknowledge", {{"adapter", "eth7"}})["error"] ==
        "io.pvrdma.Agent.NoSuchAdapter");
  CHECK(machine.has_finding("adapter-removed"));
  CHECK(machine.ask("Acknowledge", {{"adapter", "ens10"}})["health"]["state"] == "absent");
  CHECK_FALSE(machine.has_finding("adapter-removed"));
}

TEST_CASE("daemon: the boot goes on after the limit, although the driver is still coming") {
  const Manager manager;
  Machine machine;
  machine.see([](Snapshot& seen) {
    module(seen, kDriverModule).init = ModuleInit::Coming;
    adapter(seen).driver = Field<std::string>::absent();
  });
  const BootTime before = BootClock::now();
  machine.start(300ms);
  Texts heard;
  REQUIRE(machine.loop.run_until([&] {
    for (std::string& message : manager.heard()) heard.push_back(std::move(message));
    return count_of(heard, "READY=1") > 0;
  }));
  CHECK(BootClock::now() - before >= 300ms);
  REQUIRE(machine.becomes("converging"));
  CHECK(count_of(manager.heard(), "READY=1") == 0);
}

TEST_CASE("daemon: it answers while a look hangs in the kernel") {
  Machine machine;
  std::atomic<bool> hangs = true;
  machine.see([&](Snapshot&) { wait_while(hangs); });
  machine.start();
  CHECK(machine.health()["state"] == "unknown");
  hangs = false;
  CHECK(machine.becomes("ready"));
}

TEST_CASE("daemon: a look that fails leaves everything unknown, and the next one counts in full") {
  ReadyMachine machine;
  machine.see([](Snapshot&) { throw std::bad_alloc{}; });
  const auto blind = machine.ask("Refresh")["health"];
  CHECK(blind["state"] == "unknown");
  CHECK(blind["adapters"].empty());
  CHECK(machine.has_finding("unreadable"));
  machine.see({});
  CHECK(machine.ask("Refresh")["health"]["state"] == "ready");
}
