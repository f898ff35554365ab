// SPDX-License-Identifier: GPL-2.0-or-later
// Disturbing operations are planned only while they can be counted, and no more often than the
// executor would carry them out.
#include "agent/model/attempt.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const Error kNoRoom{28, "creating", "/run/x"};

Snapshot with_port_down() {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).port.state = PortState::Down;
  return snapshot;
}

void note(Snapshot& snapshot, const Operation& operation, unsigned times, Milliseconds ago) {
  for (unsigned i = 0; i < times; ++i)
    add(snapshot.ledger, attempt(verb(operation), target(operation), ago));
}

}  // namespace

TEST_CASE("a ledger that cannot be used: nothing that disturbs is planned, and a finding says so") {
  const Snapshot reload_due = with_port_down();
  Snapshot lost = ready_scene();
  rdma(lost).netdev = Field<std::string>::absent();
  for (Snapshot snapshot : {reload_due, lost}) {
    CHECK_FALSE(plan_settled(snapshot).actions.empty());
    snapshot.ledger_error = kNoRoom;
    const Plan result = plan_settled(snapshot);
    CHECK(result.actions.empty());
    const Finding* said = finding(result.findings, FindingId::LedgerUnusable);
    REQUIRE(said != nullptr);
    CHECK(said->summary.find("No space left on device") != std::string::npos);
    CHECK(assess({}, snapshot, result, {}, kNow).state == State::Degraded);
  }
}

TEST_CASE("a ledger that cannot be used: not when an administrator asks, nor once per boot") {
  Snapshot snapshot = ready_scene();
  snapshot.ledger_error = kNoRoom;
  History history = long_settled(snapshot);
  history.reload_asked = kNow;
  const Plan asked = plan({}, snapshot, history, kNow);
  CHECK(asked.actions.empty());
  CHECK(finding(asked.findings, FindingId::LedgerUnusable) != nullptr);
  Config always;
  always.modules.reload = ReloadPolicy::Always;
  CHECK(plan_settled(snapshot, always).actions.empty());
}

TEST_CASE("a ledger that cannot be used: harmless operations go on") {
  Snapshot snapshot = ready_scene();
  snapshot.ledger_error = kNoRoom;
  CHECK(plan_settled(snapshot).findings.empty());
  netdev(snapshot).link_up = false;
  CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink 0000:00:10.1"});
  module(snapshot, kDriverModule) = unloaded(kDriverModule);
  CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule vmw_pvrdma"});
}

TEST_CASE("a netdev that is lost again and again costs as many reloads as the executor would do") {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).netdev = Field<std::string>::absent();
  History history = long_settled(snapshot);
  history.fresh_start = kNow - Milliseconds{10'000};
  note(snapshot, ReloadDriver{}, kMostReloads - 1, Milliseconds{60'000});
  CHECK(described(plan({}, snapshot, history, kNow)) == Steps{"ReloadDriver vmw_pvrdma"});
  note(snapshot, RebindFunction{function_of(0)}, 1, Milliseconds{60'000});
  const Plan waits = plan({}, snapshot, history, kNow);
  CHECK(waits.actions.empty());
  CHECK(finding(waits.findings, FindingId::NetdevLost) != nullptr);
}

TEST_CASE(
    "another adapter's flap is no reason to reload again for a port that the host holds down") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 0).port.state = PortState::Down;
  note(snapshot, ReloadDriver{}, 3, Milliseconds{50'000});
  const BootTime later = kNow + Milliseconds{1'000'000};  // the backoff is over
  History history = long_settled(snapshot);
  history.adapters[function_of(1)].fresh_start = later - Milliseconds{5000};
  const Plan given_up = plan({}, snapshot, history, later);
  CHECK(given_up.actions.empty());
  CHECK(finding(given_up.findings, FindingId::GivingUp) != nullptr);
  CHECK(finding(given_up.findings, FindingId::PortDown) != nullptr);
  SECTION("its own is") { history.adapters[function_of(0)].fresh_start = later; }
  SECTION("the other one's is, for its own port") {
    rdma(snapshot, 1).port.state = PortState::Down;
  }
  CHECK(described(plan({}, snapshot, history, later)) == Steps{"ReloadDriver vmw_pvrdma"});
}

TEST_CASE("an adapter for which the agent has given up keeps no other adapter from its reload") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 0).netdev = Field<std::string>::absent();
  rdma(snapshot, 1).port.state = PortState::Down;
  note(snapshot, ReloadDriver{}, 3, Milliseconds{50'000});
  const BootTime later = kNow + Milliseconds{1'000'000};
  History history = long_settled(snapshot);
  history.adapters[function_of(1)].fresh_start = later - Milliseconds{5000};
  const Plan made = plan({}, snapshot, history, later);
  CHECK(described(made) == Steps{"ReloadDriver vmw_pvrdma"});
  CHECK(finding(made.findings, FindingId::GivingUp)->adapter == function_of(0));
}
