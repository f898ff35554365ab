// SPDX-License-Identifier: GPL-2.0-or-later
// Interfaces and RDMA devices that are, or seem to be, in another network namespace.
#include <cerrno>

#include "agent/model/attempt.hpp"
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

TEST_CASE("an interface that goes into a container is no reason to reload for another adapter") {
  Snapshot before = ready_scene(2);
  rdma(before, 1).port.state = PortState::Down;
  for (unsigned i = 0; i < 3; ++i)
    add(before.ledger, attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{1'000}));
  Snapshot now = before;
  now.taken_at = before.taken_at + Milliseconds{1'000'000};
  adapter(now).netdev = Field<Netdev>::absent();
  const History history = advance(long_settled(before), &before, now);
  const Plan made = plan({}, now, history, now.taken_at);
  CHECK(made.actions.empty());
  CHECK(finding(made.findings, FindingId::GivingUp) != nullptr);
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

TEST_CASE("a network manager has its minute again when an interface comes back from a container") {
  Snapshot before = ready_scene();
  before.taken_at = kNow - Milliseconds{90'000};
  netdev(before).owner = LinkOwner{LinkManager::NetworkManager, true, ""};
  Snapshot away = before;
  away.taken_at = kNow - Milliseconds{80'000};
  adapter(away).netdev = Field<Netdev>::absent();
  Snapshot back = ready_scene();
  netdev(back).owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  netdev(back).link_up = false;
  Config config;
  config.adapters = {
      {{std::nullopt, "0000:00:10.0", std::nullopt}, Manage::Auto, 1400, {"192.168.30.201/24"}}};
  const History left = advance(advance({}, nullptr, before), &before, away);
  History history = advance(left, &away, back);
  const auto asked = [&](Milliseconds later) {
    const Plan made = plan(config, back, history, kNow + later);
    REQUIRE(described(made) == Steps{"ConfigureLink 0000:00:10.1"});
    return std::get<ConfigureLink>(made.actions.front().operation);
  };
  const Milliseconds minute{60'000};
  CHECK_FALSE(asked(Milliseconds{0}).mtu);
  CHECK(asked(Milliseconds{0}).addresses.empty());
  CHECK(asked(minute).mtu == 1400U);
  CHECK(asked(minute).addresses.size() == 1);

  SECTION("not where no manager has it") {
    netdev(back).owner = Field<LinkOwner>::absent();
    history = advance(left, &away, back);
    CHECK(asked(Milliseconds{0}).mtu == 1400U);
    CHECK(asked(Milliseconds{0}).addresses.size() == 1);
  }
  SECTION("nor a second time, whatever its name, or what is read of it") {
    Snapshot later = back;
    later.taken_at = kNow + Milliseconds{1000};
    SECTION("a new name") { netdev(later).name = "rdma0"; }
    SECTION("unreadable") {
      adapter(later).netdev = Field<Netdev>::unreadable({5, "asking", "it"});
    }
    Snapshot last = back;
    last.taken_at = kNow + minute;
    history = advance(advance(history, &back, later), &later, last);
    CHECK(asked(minute).mtu == 1400U);
  }
  SECTION("but where another one is in its place, as after a reload of vmxnet3") {
    Snapshot other = back;
    other.taken_at = kNow + minute;
    ++netdev(other).index;
    history = advance(history, &back, other);
    CHECK_FALSE(asked(minute).mtu);
  }
}
