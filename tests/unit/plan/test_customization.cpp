// SPDX-License-Identifier: GPL-2.0-or-later
// Operations that wait while cloud-init or open-vm-tools customize the VM, and how long.
#include "agent/plan/rules.hpp"

#include <variant>

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

constexpr Milliseconds kPatience{120'000};

Snapshot fresh_clone() {
  Snapshot snapshot = ready_scene();
  snapshot.customization = std::string{"cloud-init's network stage"};
  return snapshot;
}

Config configured(Manage manage) {
  Config config;
  config.adapters = {{{"00:50:56:00:00:10", {}, {}}, manage, 1400U, {"192.168.30.201/24"}}};
  return config;
}

// The history after a first look at this time.
History seen(Snapshot snapshot, BootTime when) {
  snapshot.taken_at = when;
  return advance(long_settled(snapshot), nullptr, snapshot);
}

Health health_of(const Config& config, const Snapshot& snapshot, const History& history,
                 BootTime now = kNow) {
  return assess(config, snapshot, plan(config, snapshot, history, now), history, now);
}

State state_of(const Config& config, const Snapshot& snapshot, const History& history) {
  return health_of(config, snapshot, history).state;
}

bool is_slow(const Health& health) { return finding(health.findings, FindingId::Slow) != nullptr; }

}  // namespace

TEST_CASE("addresses and MTU wait for the customization, whatever the link's owner") {
  Snapshot snapshot = fresh_clone();
  const History history = seen(snapshot, kNow);
  for (const Manage manage : {Manage::Auto, Manage::Agent}) {
    const Plan waiting = plan(configured(manage), snapshot, history, kNow);
    CHECK(waiting.actions.empty());
    REQUIRE(finding(waiting.findings, FindingId::CustomizationAwaited) != nullptr);
    CHECK(finding(waiting.findings, FindingId::CustomizationAwaited)
              ->summary.find("cloud-init's network stage") != std::string::npos);
    CHECK(waiting.next_look == kNow + kPatience);
    CHECK(state_of(configured(manage), snapshot, history) == State::Converging);
  }
  snapshot.customization = {};
  CHECK(described(plan(configured(Manage::Auto), snapshot, long_settled(snapshot), kNow)) ==
        Steps{"ConfigureLink 0000:00:10.1"});
}

TEST_CASE("an address that is no longer configured is not removed while it waits") {
  Snapshot snapshot = fresh_clone();
  netdev(snapshot).addresses = {{"192.168.30.200/24", true}};
  CHECK(plan({}, snapshot, seen(snapshot, kNow), kNow).actions.empty());
  snapshot.customization = {};
  const Plan made = plan({}, snapshot, long_settled(snapshot), kNow);
  REQUIRE_FALSE(made.actions.empty());
  CHECK(std::get<ConfigureLink>(made.actions.front().operation).removes);
}

TEST_CASE("modules, binding and a link that is down do not wait") {
  Snapshot snapshot = fresh_clone();
  const History history = seen(snapshot, kNow);
  SECTION("a module") {
    module(snapshot, kDriverModule) = unloaded(kDriverModule);
    CHECK(described(plan({}, snapshot, history, kNow)) == Steps{"LoadModule vmw_pvrdma"});
  }
  SECTION("a function") {
    adapter(snapshot).driver = {};
    adapter(snapshot).rdma_device = {};
    CHECK(described(plan({}, snapshot, history, kNow)) == Steps{"BindFunction 0000:00:10.1"});
  }
  SECTION("a link, which is only brought up") {
    netdev(snapshot).link_up = false;
    netdev(snapshot).addresses = {{"192.168.30.200/24", true}};
    const Plan made = plan(configured(Manage::Agent), snapshot, history, kNow);
    REQUIRE(made.actions.size() == 1);
    const auto& link = std::get<ConfigureLink>(made.actions.front().operation);
    CHECK_FALSE(link.mtu);
    CHECK(link.addresses.empty());
    CHECK_FALSE(link.removes);
  }
}

TEST_CASE("network managers do not wait for it where the driver cannot be loaded") {
  Snapshot snapshot = fresh_clone();
  adapter(snapshot).driver = {};
  adapter(snapshot).rdma_device = {};
  Module& driver = module(snapshot, kDriverModule) = unloaded(kDriverModule);
  SECTION("not shipped") { driver.shipped = Shipped::Missing; }
  SECTION("blocked") { driver.blocked = std::string{"\"blacklist vmw_pvrdma\" in x:1"}; }
  const Plan made = plan({}, snapshot, seen(snapshot, kNow), kNow);
  CHECK(made.next_look == kNow + kPatience);
  CHECK(driver_is_decided(snapshot, made));
}

TEST_CASE("a machine that works is not ready before the customization has ended") {
  const Snapshot snapshot = fresh_clone();
  CHECK(state_of({}, snapshot, seen(snapshot, kNow)) == State::Converging);
}

TEST_CASE("matches of the template's configuration are no finding yet") {
  const Snapshot snapshot = fresh_clone();
  Config config;
  config.adapters = {{{"00:50:56:00:00:99", {}, {}}, Manage::Auto, {}, {}}};
  CHECK(finding(plan(config, snapshot, seen(snapshot, kNow), kNow).findings,
                FindingId::ConfigMatchesNothing) == nullptr);
  CHECK(finding(plan_settled(ready_scene(), config).findings, FindingId::ConfigMatchesNothing) !=
        nullptr);
}

TEST_CASE("the wait is bounded, and a late customization is a warning") {
  const Snapshot snapshot = fresh_clone();
  const Config config = configured(Manage::Auto);
  const Plan early =
      plan(config, snapshot, seen(snapshot, kNow - kPatience + Milliseconds{1}), kNow);
  CHECK(early.actions.empty());
  const Plan late = plan(config, snapshot, seen(snapshot, kNow - kPatience), kNow);
  CHECK(described(late) == Steps{"ConfigureLink 0000:00:10.1"});
  REQUIRE(finding(late.findings, FindingId::CustomizationLate) != nullptr);
  CHECK(finding(late.findings, FindingId::CustomizationAwaited) == nullptr);
  CHECK(state_of({}, snapshot, seen(snapshot, kNow - kPatience)) == State::Degraded);
}

TEST_CASE("the time limit of an adapter starts anew when the wait ends") {
  const Snapshot snapshot = fresh_clone();
  const Config config = configured(Manage::Auto);
  const Milliseconds limit = config.readiness.timeout;
  const BootTime began = kNow - limit - Milliseconds{10'000};
  const History history = seen(snapshot, began);
  for (const Config& one : {Config{}, config}) {
    const Health waiting = health_of(one, snapshot, history);
    CHECK(waiting.state == State::Converging);
    CHECK_FALSE(is_slow(waiting));
  }
  const auto is_slow_after = [&](const Snapshot& now, const History& after, BootTime end) {
    CHECK_FALSE(is_slow(health_of(config, now, after, end)));
    CHECK_FALSE(is_slow(health_of(config, now, after, end + limit)));
    CHECK(is_slow(health_of(config, now, after, end + limit + Milliseconds{1})));
  };
  SECTION("as the customization has ended") {
    Snapshot later = snapshot;
    later.taken_at = kNow;
    later.customization = {};
    is_slow_after(later, advance(history, &snapshot, later), kNow);
  }
  SECTION("as it takes too long") { is_slow_after(snapshot, history, began + kPatience); }
}

TEST_CASE("an unreadable mark is waited for as long, and named") {
  Snapshot snapshot = fresh_clone();
  snapshot.customization = Field<std::string>::unreadable({EACCES, "opening", "/run/x"});
  const Plan waiting = plan(configured(Manage::Auto), snapshot, seen(snapshot, kNow), kNow);
  CHECK(waiting.actions.empty());
  REQUIRE(finding(waiting.findings, FindingId::CustomizationAwaited) != nullptr);
  CHECK(finding(waiting.findings, FindingId::CustomizationAwaited)->summary.find("/run/x") !=
        std::string::npos);
  CHECK(finding(plan({}, snapshot, seen(snapshot, BootTime{}), kNow + kPatience).findings,
                FindingId::CustomizationLate) != nullptr);
}

TEST_CASE(
    "the wait begins with the first look that sees a customization, and again with the next "
    "customization") {
  constexpr Milliseconds kLater{2000};
  const auto next_look = [](const Snapshot& snapshot, const History& history) {
    return plan({}, snapshot, history, snapshot.taken_at).next_look;
  };
  Snapshot first = fresh_clone();
  first.taken_at = kNow;
  const History began = seen(first, kNow);
  CHECK(next_look(first, began) == kNow + kPatience);
  Snapshot second = first;
  second.taken_at = kNow + kLater;
  CHECK(next_look(second, advance(began, &first, second)) == kNow + kPatience);
  second.customization = {};
  const History ended = advance(began, &first, second);
  Snapshot third = first;
  third.taken_at = kNow + 2 * kLater;
  CHECK(next_look(third, advance(ended, &second, third)) == third.taken_at + kPatience);
}
