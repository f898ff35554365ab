// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict: the state of each adapter and of the machine, and how old an answer may be.
#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("nothing is claimed from a stale look") {
  const Snapshot snapshot = ready_scene();
  const Health health = assess({}, snapshot, plan_settled(snapshot), {}, kNow);
  CHECK(health.state == State::Ready);
  CHECK(if_fresh(health, kNow + Milliseconds{30'000}, Milliseconds{45'000}).state == State::Ready);
  CHECK(if_fresh(health, kNow + Milliseconds{50'000}, Milliseconds{45'000}).state ==
        State::Unknown);
}

TEST_CASE("a port that is ACTIVE before the driver is live is converging") {
  Snapshot snapshot = ready_scene();
  const auto verdict = [&] {
    return assess({}, snapshot, plan_settled(snapshot), {}, kNow).adapters.at(0).state;
  };
  for (const ModuleInit init : {ModuleInit::Coming, ModuleInit::Going}) {
    module(snapshot, kDriverModule).init = init;
    CHECK(verdict() == State::Converging);
  }
  module(snapshot, kDriverModule).init = Field<ModuleInit>::unreadable({EACCES, "reading", "it"});
  CHECK(verdict() == State::Degraded);
}

TEST_CASE("the verdict of several adapters") {
  struct Case {
    PortState first;
    PortState second;
    std::optional<unsigned> required;
    State expected;
  };
  // The host keeps the second adapter's port DOWN: it was reloaded already, so it has failed.
  const Case cases[] = {{PortState::Active, PortState::Active, std::nullopt, State::Ready},
                        {PortState::Active, PortState::Down, std::nullopt, State::Degraded},
                        {PortState::Active, PortState::Down, 1, State::Ready},
                        {PortState::Active, PortState::Down, 2, State::Degraded},
                        {PortState::Down, PortState::Down, std::nullopt, State::Failed},
                        {PortState::Down, PortState::Down, 1, State::Failed}};
  for (const Case& test : cases) {
    INFO(to_string(test.first) << " " << to_string(test.second) << " "
                               << test.required.value_or(99));
    Snapshot snapshot = ready_scene(2);
    rdma(snapshot, 0).port.state = test.first;
    rdma(snapshot, 1).port.state = test.second;
    snapshot.ledger.attempts.push_back(
        attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{20'000}));
    Config config;
    config.readiness.adapters = test.required;
    const Plan result = plan_settled(snapshot, config);
    CHECK(assess(config, snapshot, result, {}, kNow).state == test.expected);
  }
}

TEST_CASE("network managers wait for the driver, and nothing else") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).link_up = false;
  CHECK(driver_is_decided(snapshot, plan_settled(snapshot)));
  module(snapshot, kDriverModule).init = ModuleInit::Coming;
  CHECK_FALSE(driver_is_decided(snapshot, plan_settled(snapshot)));
  module(snapshot, kDriverModule) = unloaded(kDriverModule);
  CHECK_FALSE(driver_is_decided(snapshot, plan_settled(snapshot)));
  snapshot.ledger.attempts = {
      attempt(Verb::LoadModule, kDriverModule, Milliseconds{100}, Outcome::Refused)};
  CHECK(driver_is_decided(snapshot, plan_settled(snapshot)));
  snapshot.ledger = {};
  add(snapshot.ledger,
      attempt(Verb::LoadModule, kDriverModule, Milliseconds{100}, Outcome::NotAllowed));
  CHECK(driver_is_decided(snapshot, plan_settled(snapshot)));
  CHECK(driver_is_decided(ready_scene(0), {}));
}

TEST_CASE("network managers wait for a function that was held back, as long as it may be bound") {
  Snapshot snapshot = ready_scene(2);
  Adapter& second = snapshot.adapters.get()->back();
  second.driver = {};
  second.rdma_device = {};
  const Plan binds = plan_settled(snapshot);
  CHECK_FALSE(driver_is_decided(snapshot, binds));
  add(snapshot.ledger,
      attempt(Verb::BindFunction, second.function, Milliseconds{100}, Outcome::Failed));
  CHECK(driver_is_decided(snapshot, plan_settled(snapshot)));
}

TEST_CASE("an adapter that converges for too long has a finding") {
  Snapshot snapshot = ready_scene();
  module(snapshot, kDriverModule).init = ModuleInit::Coming;
  rdma(snapshot).port.state = PortState::Down;
  const History history = long_settled(snapshot);
  const Health health = assess({}, snapshot, plan({}, snapshot, history, kNow), history, kNow);
  CHECK(health.state == State::Degraded);
  CHECK(finding(health.findings, FindingId::Slow) != nullptr);
}

TEST_CASE("an adapter that comes up does not count as blocked by the release of another") {
  Snapshot snapshot = ready_scene(2);
  adapter(snapshot, 1).driver = Field<std::string>::absent();
  module(snapshot, kDriverModule).refcount = 1U;
  netdev(snapshot).link_up = false;
  rdma(snapshot).port.state = PortState::Down;
  History history = long_settled(snapshot);
  for (auto& [function, seen] : history.adapters) seen.changed = kNow - Milliseconds{10'000};
  const Plan made = plan({}, snapshot, history, kNow);
  REQUIRE(finding(made.findings, FindingId::DriverInUse) != nullptr);
  const Health health = assess({}, snapshot, made, history, kNow);
  CHECK(health.adapters.at(0).state == State::Converging);
  CHECK(health.adapters.at(1).state == State::Degraded);
}

TEST_CASE("an adapter that works is ready while the reload that another needs cannot begin") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 1).port.state = PortState::Down;
  History history = long_settled(snapshot);
  const auto first = [&] {
    const Plan made = plan({}, snapshot, history, kNow);
    REQUIRE(described(made) == Steps{"ReloadDriver vmw_pvrdma"});
    return assess({}, snapshot, made, history, kNow).adapters.at(0).state;
  };
  CHECK(first() == State::Converging);
  SECTION("the executor cannot be reached") {
    history.executor_missing = Error{2, "connecting to", "the executor"};
  }
  SECTION("the executor is stuck in another call") {
    history.busy = CallUnderWay{ConfigureLink{function_of(1), "ens11", {}, {}},
                                kNow - Milliseconds{60'000}, true};
  }
  CHECK(first() == ((history.busy || history.executor_missing) ? State::Ready : State::Converging));
}
