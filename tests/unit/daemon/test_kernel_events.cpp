// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's events that cause a look: rtnetlink's, for links in the test's own network
// namespace, and uevents that the kernel sends on request.
#include "agent/daemon/kernel_events.hpp"

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/unit/catch.hpp"
#include "tests/unit/executor/netns.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

struct Listener {
  Listener() {
    auto subscribed = KernelEvents::subscribe(loop.get(), [this] { ++count; });
    REQUIRE(subscribed);
    events = std::move(*subscribed);
  }
  // Earlier events are in the sockets by now: netlink delivers before the sender goes on.
  [[nodiscard]] int events_now() {
    while (sd_event_run(loop.get(), 0) > 0) {
    }
    return std::exchange(count, 0);
  }

  Loop loop;
  int count = 0;
  std::unique_ptr<KernelEvents> events;
};

// A system with one adapter, whose netdev has this index.
Snapshot with_netdev(int index) {
  Snapshot snapshot = ready_scene();
  snapshot.adapters.get()->front().netdev.get()->index = index;
  return snapshot;
}

// A PCI function whose uevents we may ask for; empty: there is none.
std::string some_function() {
  std::error_code ignored;
  for (const auto& function : std::filesystem::directory_iterator("/sys/bus/pci/devices", ignored))
    if (std::ofstream{function.path() / "uevent", std::ios::in | std::ios::out})
      return function.path().filename();
  return {};
}
// Makes the kernel send the uevent of a changed function (Documentation/ABI/testing/sysfs-uevent).
void send_uevent(const std::string& function) {
  std::ofstream{"/sys/bus/pci/devices/" + function + "/uevent"} << "change" << std::flush;
}

}  // namespace

TEST_CASE("a change of an adapter's link or addresses causes a look, of another's none") {
  const Namespace isolated;
  if (!isolated.entered()) return;
  run("ip link add ours type veth peer name theirs");
  Listener listener;
  CHECK(listener.events_now() == 0);

  run("ip link set ours mtu 1400");
  CHECK(listener.events_now() == 0);  // no look has found its owner yet
  listener.events->set_filter(with_netdev(index_of_link("ours")));
  CHECK(listener.events_now() == 1);
  listener.events->set_filter(with_netdev(index_of_link("ours")));
  CHECK(listener.events_now() == 0);
  run("ip link set theirs mtu 1400 && ip address add 192.0.2.1/24 dev theirs");
  CHECK(listener.events_now() == 0);
  run("ip link set ours mtu 1300");
  CHECK(listener.events_now() == 1);
  run("ip address add 192.0.2.2/24 dev ours");
  CHECK(listener.events_now() == 1);
  run("ip -6 address add 2001:db8::2/64 dev ours nodad && ip address del 192.0.2.2/24 dev ours");
  CHECK(listener.events_now() > 0);
  run("ip link del ours");
  CHECK(listener.events_now() > 0);

  listener.events->set_filter(Snapshot{});
  run("ip link add ours type veth peer name theirs && ip link set ours mtu 1300");
  CHECK(listener.events_now() == 0);
}

TEST_CASE("a look that does not see an adapter's link loses no event of the link") {
  const Namespace isolated;
  if (!isolated.entered()) return;
  run("ip link add ours type veth peer name theirs");
  Listener listener;
  const Snapshot before = with_netdev(index_of_link("ours"));
  Snapshot now = before;
  SECTION("it is being renamed") { now.adapters.get()->front().netdev = {}; }
  SECTION("the adapters are unreadable") {
    now.adapters = Field<std::vector<Adapter>>::unreadable({EMFILE, "opening", "a folder"});
  }
  listener.events->set_filter(before);
  CHECK(listener.events_now() == 0);
  listener.events->set_filter(now);
  run("ip link set ours name renamed");
  CHECK(listener.events_now() > 0);
  run("ip link set theirs mtu 1400");
  CHECK(listener.events_now() == 0);
}

TEST_CASE("events of other links during the first look cause no other look") {
  const Namespace isolated;
  if (!isolated.entered()) return;
  run("ip link add ours type veth peer name theirs");
  Listener listener;
  run("ip link set theirs mtu 1400");
  CHECK(listener.events_now() == 0);
  listener.events->set_filter(with_netdev(index_of_link("ours")));
  CHECK(listener.events_now() == 0);
}

TEST_CASE("a change of an adapter's function causes a look, of another none") {
  const std::string function = some_function();
  if (function.empty()) {
    WARN("skipped: needs root, and a PCI bus");
    return;
  }
  Listener listener;
  send_uevent(function);
  CHECK(listener.events_now() == 0);
  Snapshot snapshot = ready_scene();
  snapshot.adapters.get()->front().net_function = function;
  listener.events->set_filter(snapshot);
  CHECK(listener.events_now() == 1);
  send_uevent(function);
  CHECK(listener.events_now() > 0);
}

TEST_CASE("setting the clock causes a look") {
  Listener listener;
  CHECK(listener.events_now() == 0);
  for (int times = 0; times < 2; ++times) {
    timespec now{};
    REQUIRE(::clock_gettime(CLOCK_REALTIME, &now) == 0);
    // Sets the clock to its own time: it loses the time between the two calls.
    if (::clock_settime(CLOCK_REALTIME, &now) != 0) {
      WARN("skipped: may not set the clock");
      return;
    }
    CHECK(listener.events_now() == 1);
    CHECK(listener.events_now() == 0);
  }
}
