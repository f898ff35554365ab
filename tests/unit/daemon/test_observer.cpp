// The observer on this machine, whatever that has: how a look comes to the event loop.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>

#include "agent/base/handle.hpp"
#include "agent/daemon/observer.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

// Looks of which nothing but their number is of interest.
struct Counted {
  Counted() {
    auto started = Observer::start(loop.get(), {"ib_umad"}, [this](const Look&) { ++looks; });
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
  const auto observer = Observer::start(raw, {"ib_umad"}, [&](Look look) {
    on_look(std::move(look));
    sd_event_exit(raw, 0);
  });
  REQUIRE(observer);
  return sd_event_loop(raw);
}

}  // namespace

TEST_CASE("the first look comes by itself") {
  std::optional<Look> seen;
  CHECK(look_once([&](Look look) { seen = std::move(look); }) == 0);
  REQUIRE(seen);
  CHECK(seen->snapshot.taken_at >= seen->started);
}

TEST_CASE("what is thrown over a look ends the loop, not the callers of its callback") {
  CHECK(look_once([](const Look&) { throw std::bad_alloc{}; }) == -ENOMEM);
}

TEST_CASE("a look that was asked for is handed over, whether it sees anything new or not") {
  Counted counted;
  counted.observer->schedule({"ib_umad"}, {1h, 1h}, std::nullopt);
  counted.observer->look();
  CHECK(counted.loop.run_until([&] { return counted.looks == 2; }));
}

TEST_CASE("a look that sees nothing new wakes nobody, unless one is due by then") {
  Counted counted;
  BootTime seen = counted.observer->last_look();
  counted.observer->schedule({"ib_umad"}, {20ms, 20ms}, std::nullopt);
  for (int look = 0; look < 3; ++look) {
    REQUIRE(counted.loop.run_until([&] { return counted.observer->last_look() > seen; }));
    seen = counted.observer->last_look();
  }
  CHECK(counted.looks == 1);
  counted.observer->schedule({"ib_umad"}, {1h, 1h}, BootClock::now() + 20ms);
  CHECK(counted.loop.run_until([&] { return counted.looks == 2; }));
}

TEST_CASE("looks that see nothing new come at growing distances, and near again after news") {
  Loop loop;
  std::mutex mutex;
  std::vector<BootTime> looks;
  std::atomic<int> news = 0;
  auto observer = Observer::start(
      loop.get(), {}, [](const Look&) {},
      [&](const probes::ObserveOptions&) {
        Snapshot seen;
        seen.kernel = std::to_string(news);
        seen.taken_at = BootClock::now();
        const std::lock_guard lock{mutex};
        looks.push_back(seen.taken_at);
        return seen;
      });
  REQUIRE(observer);
  const auto looked = [&](std::size_t times) {
    return loop.run_until([&] {
      const std::lock_guard lock{mutex};
      return looks.size() >= times;
    });
  };
  (*observer)->schedule({}, {20ms, 80ms}, std::nullopt);
  REQUIRE(looked(6));
  const auto apart = [&](std::size_t look) {
    const std::lock_guard lock{mutex};
    return looks[look] - looks[look - 1];
  };
  CHECK(apart(2) >= 40ms);
  CHECK(apart(3) >= 80ms);
  CHECK(apart(5) >= 80ms);
  // The same pace once more is no reason to begin anew.
  (*observer)->schedule({}, {20ms, 80ms}, std::nullopt);
  REQUIRE(looked(8));
  CHECK(apart(7) >= 80ms);
  news = 1;
  REQUIRE(looked(12));
  // The look that saw it is one of the next two, and the one after it comes as after any news.
  CHECK(apart(11) >= 80ms);
  const auto soonest = std::min({apart(8), apart(9), apart(10)});
  CHECK(soonest >= 20ms);
  CHECK(soonest < 80ms);
}
