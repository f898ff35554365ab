// The observer on this machine, whatever that has: how a look comes to the event loop.
#include <cerrno>
#include <new>

#include "agent/base/handle.hpp"
#include "agent/daemon/observer.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

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
