// SPDX-License-Identifier: GPL-2.0-or-later
// Interfaces and RDMA devices that are, or seem to be, in another network namespace.
#include <cerrno>

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("an interface in another network namespace is left there, and concerns one adapter") {
  Snapshot snapshot = ready_scene(2);
  adapter(snapshot).netdev = Field<Netdev>::absent();
  adapter(snapshot).rdma_device.get()->netdev = Field<std::string>::absent();
  adapter(snapshot).rdma_device.get()->port.state = PortState::Down;
  Config config;
  AdapterConfig entry;
  entry.match.netdev = "ens10";
  config.adapters = {entry};
  const Plan plan = plan_settled(snapshot, config);
  CHECK(plan.actions.empty());
  REQUIRE(plan.findings.size() == 1);  // it is not known whether the configuration matches
  CHECK(plan.findings[0].id == FindingId::NetdevElsewhere);
  CHECK(plan.findings[0].adapter == function_of(0));
  const Health health = assess(config, snapshot, plan, long_settled(snapshot), kNow);
  CHECK(health.adapters[0].state == State::Degraded);
  CHECK(health.adapters[1].state == State::Ready);
  CHECK(health.state == State::Degraded);

  History recent = long_settled(snapshot);
  recent.adapters[function_of(0)].changed = kNow - Milliseconds{100};
  const Plan early = pvrdma::plan({}, snapshot, recent, kNow);
  CHECK(early.findings.empty());  // vmxnet3 may be about to make it
  CHECK(early.next_look.has_value());
}

TEST_CASE("an RDMA device in another network namespace stays there, with its interface or alone") {
  Snapshot snapshot = ready_scene(2);
  const bool alone = GENERATE(false, true);
  if (!alone) adapter(snapshot).netdev = Field<Netdev>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  const Plan plan = plan_settled(snapshot);
  CHECK(plan.actions.empty());
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].id == FindingId::NetdevElsewhere);
  CHECK(plan.findings[0].summary.starts_with("The RDMA device of 0000:00:10.1") == alone);
  const Health health = assess({}, snapshot, plan, long_settled(snapshot), kNow);
  CHECK(health.adapters[0].state == State::Degraded);
  CHECK(health.adapters[1].state == State::Ready);
}

TEST_CASE("a probe that takes long is not taken for an RDMA device in another network namespace") {
  Snapshot snapshot = ready_scene(2);
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow - Milliseconds{20'000};
  history.busy = CallUnderWay{BindFunction{function_of(0)}, kNow - Milliseconds{20'000}, false};
  const Plan during = pvrdma::plan({}, snapshot, history, kNow);
  CHECK(during.findings.empty());
  CHECK(assess({}, snapshot, during, history, kNow).state == State::Converging);

  // That of another adapter is no reason to forget a device that has been elsewhere for long.
  history.busy = CallUnderWay{ReloadDriver{}, kNow - Milliseconds{19'000}, false};
  CHECK(pvrdma::plan({}, snapshot, history, kNow).findings.size() == 1);

  // Another program may have bound the function.
  history.busy.reset();
  history.adapters[function_of(0)].changed = kNow - Milliseconds{10'000};
  const Plan soon = pvrdma::plan({}, snapshot, history, kNow);
  CHECK(soon.findings.empty());
  CHECK(soon.next_look == kNow + Milliseconds{2'000});
}

TEST_CASE("a function whose interface is in another network namespace is bound once it settled") {
  Snapshot snapshot = ready_scene(2);
  adapter(snapshot).netdev = Field<Netdev>::absent();
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  CHECK(described(plan_settled(snapshot)) == Steps{"BindFunction 0000:00:10.1"});

  History recent = long_settled(snapshot);
  recent.adapters[function_of(0)].changed = kNow - Milliseconds{100};
  const Plan early = pvrdma::plan({}, snapshot, recent, kNow);
  CHECK(early.actions.empty());  // vmxnet3 may be about to make the interface
  CHECK(early.next_look == kNow - Milliseconds{100} + kSettle);

  snapshot.ledger.attempts = {
      attempt(Verb::BindFunction, function_of(0), Milliseconds{500}, Outcome::Failed)};
  const Plan failed = plan_settled(snapshot);
  CHECK(failed.actions.empty());
  REQUIRE_FALSE(failed.findings.empty());
  CHECK(failed.findings[0].adapter == function_of(0));
  adapter(snapshot).netdev = Field<Netdev>::unreadable({EACCES, "reading", "netdev"});
  snapshot.ledger.attempts.clear();
  CHECK(plan_settled(snapshot).actions.empty());
}
