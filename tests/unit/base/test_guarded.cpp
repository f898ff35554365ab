// SPDX-License-Identifier: GPL-2.0-or-later
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "agent/base/guarded.hpp"
#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

TEST_CASE("an exception becomes an errno, and nothing leaves") {
  CHECK(guarded([] { return 7; }) == 7);
  CHECK(guarded([] {}) == 0);
  CHECK(guarded([]() -> int { throw std::bad_alloc{}; }) == -ENOMEM);
  CHECK(guarded([] { throw std::system_error{EMFILE, std::generic_category()}; }) == -EMFILE);
  CHECK(guarded([] { throw std::runtime_error{"\033[2J\n"}; }) == -EIO);
  CHECK(guarded([] { throw 1; }) == -EIO);
  CHECK(guarded_main([] { return 3; }) == 3);
  CHECK(guarded_main([]() -> int { throw std::bad_alloc{}; }) == EXIT_FAILURE);
}

TEST_CASE("a callback that throws ends its event loop instead of unwinding through it") {
  sd_event* raw = nullptr;
  REQUIRE(sd_event_new(&raw) >= 0);
  const Handle<sd_event, sd_event_unref> event{raw};
  const auto throws = [](sd_event_source* source, void* /*self*/) {
    return guarded_callback(source, [] { throw std::bad_alloc{}; });
  };
  sd_event_source* source = nullptr;
  REQUIRE(sd_event_add_defer(event.get(), &source, throws, nullptr) >= 0);
  const Handle<sd_event_source, sd_event_source_unref> held{source};
  CHECK(sd_event_loop(event.get()) == -ENOMEM);
}
