// SPDX-License-Identifier: GPL-2.0-or-later
// Rules 5 and 6: what is said while no reload follows, as a gentler operation comes first, or as
// the agent has given up.
#include "agent/model/attempt.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("what is said of a broken adapter stays while another one's link is configured") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot).port.state = PortState::Down;
  for (const int ago : {80'000, 70'000, 60'000})
    add(snapshot.ledger, attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{ago}));
  const Plan before = plan_settled(snapshot);
  REQUIRE(finding(before.findings, FindingId::PortDown) != nullptr);
  REQUIRE(finding(before.findings, FindingId::GivingUp) != nullptr);
  SECTION("it is planned") {
    netdev(snapshot, 1).link_up = false;
    CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink " + function_of(1)});
  }
  SECTION("it was done a moment ago") {
    add(snapshot.ledger, attempt(Verb::ConfigureLink, function_of(1), Milliseconds{100}));
  }
  SECTION("it failed a moment ago, its own too") {
    for (const unsigned index : {0U, 1U})
      add(snapshot.ledger,
          attempt(Verb::ConfigureLink, function_of(index), Milliseconds{100}, Outcome::Failed));
  }
  const Plan during = plan_settled(snapshot);
  CHECK(during.findings == before.findings);
  CHECK(assess({}, snapshot, during, long_settled(snapshot), kNow).adapters[0].state ==
        State::Failed);
}

TEST_CASE("what is said of a broken adapter stays while the bind of another one fails") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot).port.state = PortState::Down;
  adapter(snapshot, 1).driver = Field<std::string>::absent();
  adapter(snapshot, 1).rdma_device = Field<RdmaDevice>::absent();
  for (const int ago : {80'000, 70'000, 60'000})
    add(snapshot.ledger, attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{ago}));
  add(snapshot.ledger,
      attempt(Verb::BindFunction, function_of(1), Milliseconds{100}, Outcome::Failed));
  const Plan made = plan_settled(snapshot);
  CHECK(finding(made.findings, FindingId::PortDown) != nullptr);
  CHECK(finding(made.findings, FindingId::GivingUp) != nullptr);
  CHECK(assess({}, snapshot, made, long_settled(snapshot), kNow).adapters[0].state ==
        State::Failed);
}

TEST_CASE("an adapter whose link is being configured converges while another waits for a job") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 1).port.state = PortState::Down;
  module(snapshot, kDriverModule).refcount = 1U;
  netdev(snapshot).link_up = false;
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow - Milliseconds{2000};
  const Plan made = plan({}, snapshot, history, kNow);
  CHECK(described(made) == Steps{"ConfigureLink " + function_of(0)});
  CHECK(finding(made.findings, FindingId::DriverInUse) != nullptr);
  const Health health = assess({}, snapshot, made, history, kNow);
  CHECK(health.adapters[0].state == State::Converging);
  CHECK(health.adapters[1].state == State::Degraded);
}

TEST_CASE("a reload for each boot that failed three times is reported as given up") {
  Config config;
  config.modules.reload = ReloadPolicy::Always;
  Snapshot snapshot = ready_scene();
  for (const int ago : {80'000, 70'000, 60'000})
    add(snapshot.ledger,
        attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{ago}, Outcome::Failed));
  const Plan ended = plan_settled(snapshot, config);
  CHECK(ended.actions.empty());
  const Finding* found = finding(ended.findings, FindingId::GivingUp);
  REQUIRE(found != nullptr);
  CHECK(found->severity == Severity::Warning);
  CHECK_FALSE(found->adapter);
  CHECK(finding(ended.findings, FindingId::ActionFailed) != nullptr);
  CHECK(assess(config, snapshot, ended, long_settled(snapshot), kNow).state == State::Degraded);
}
