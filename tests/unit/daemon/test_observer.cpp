// SPDX-License-Identifier: GPL-2.0-or-later
// The observer on this machine, whatever it has: the way of a look to the event loop.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <thread>

#include "agent/base/handle.hpp"
#include "agent/daemon/observer.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

// Counts looks; nothing else of them matters.
struct Counted {
  Counted() {
    auto started = Observer::start(loop.get(), {"ib_umad"}, [this](const Looked&) { ++looks; });
    REQUIRE(started);
    observer = std::move(*started);
    REQUIRE(loop.run_until([this] { return looks == 1; }));
  }
  Loop loop;
  int looks = 0;
  std::unique_ptr<Observer> observer;
};

int look_once(const Observer::OnLook& on_look) {
  sd_event* raw = nullptr;
  REQUIRE(sd_event_new(&raw) >= 0);
  const Handle<sd_event, sd_event_unref> event{raw};
  const auto observer = Observer::start(raw, {"ib_umad"}, [&](Looked look) {
    on_look(std::move(look));
    sd_event_exit(raw, 0);
  });
  REQUIRE(observer);
  return sd_event_loop(raw);
}

}  // namespace

TEST_CASE("the first look comes by itself") {
  std::optional<Looked> seen;
  CHECK(look_once([&](Looked look) { seen = std::move(look); }) == 0);
  REQUIRE(seen);
  CHECK(seen->snapshot.taken_at >= seen->began);
}

TEST_CASE("an exception during a look ends the loop, not the callers of its callback") {
  CHECK(look_once([](const Looked&) { throw std::bad_alloc{}; }) == -ENOMEM);
}

TEST_CASE("a look that was asked for is handed over even where nothing changed") {
  Counted counted;
  counted.observer->schedule({"ib_umad"}, 1h, std::nullopt);
  counted.observer->look();
  CHECK(counted.loop.run_until([&] { return counted.looks == 2; }));
}

TEST_CASE("a look that is about to be handed over confirms nothing") {
  Counted counted;
  const BootTime seen = counted.observer->last_look();
  counted.observer->schedule({"ib_umad"}, 1h, std::nullopt);
  counted.observer->look();
  BootTime ended = seen;
  const BootTime deadline = BootClock::now() + 10s;
  while (ended == seen && BootClock::now() < deadline) {
    std::this_thread::yield();
    ended = counted.observer->last_look();
  }
  CHECK(ended == BootTime{});
  REQUIRE(counted.loop.run_until([&] { return counted.looks == 2; }));
  CHECK(counted.observer->last_look() >= seen);
}

TEST_CASE("an unchanged look is not handed over, unless one is due by then") {
  Counted counted;
  BootTime seen = counted.observer->last_look();
  counted.observer->schedule({"ib_umad"}, 20ms, std::nullopt);
  for (int look = 0; look < 3; ++look) {
    REQUIRE(counted.loop.run_until([&] { return counted.observer->last_look() > seen; }));
    seen = counted.observer->last_look();
  }
  CHECK(counted.looks == 1);
  counted.observer->schedule({"ib_umad"}, 1h, BootClock::now() + 20ms);
  CHECK(counted.loop.run_until([&] { return counted.looks == 2; }));
}
