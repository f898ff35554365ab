// SPDX-License-Identifier: GPL-2.0-or-later
// Rules 5 and 6: which rung, when, and what forbids it.
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

Snapshot port_down_scene(unsigned count = 1) {
  Snapshot snapshot = ready_scene(count);
  rdma(snapshot, count - 1).port.state = PortState::Down;
  return snapshot;
}

Snapshot wrong_order_scene() {
  Snapshot snapshot = port_down_scene();
  module(snapshot, "ib_umad").load_order = 9U;
  return snapshot;
}

void hold(Snapshot& snapshot, unsigned index, bool named = true) {
  module(snapshot, kDriverModule).refcount = 1U;
  if (named)
    snapshot.holders = std::vector<Holder>{{812, "ibv_asyncwatch", rdma(snapshot, index).name}};
}

}  // namespace

TEST_CASE("a reload, once the adapter and the last operation on it have settled") {
  Snapshot snapshot = port_down_scene();
  CHECK(described(plan_settled(snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});

  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow - Milliseconds{100};
  const Plan settling = plan({}, snapshot, history, kNow);
  CHECK(settling.actions.empty());
  CHECK(settling.next_look == kNow + Milliseconds{100});  // the port may still follow its link
  CHECK(assess({}, snapshot, settling, history, kNow).state == State::Converging);

  snapshot.ledger.attempts = {attempt(Verb::ConfigureLink, function_of(0), Milliseconds{1000})};
  CHECK(plan_settled(snapshot).actions.empty());
  snapshot.ledger.attempts = {attempt(Verb::ConfigureLink, function_of(0), Milliseconds{4000})};
  CHECK(described(plan_settled(snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});
}

TEST_CASE("a driver older than a module that must precede it is reloaded where a port is down") {
  CHECK(described(plan_settled(wrong_order_scene())) == Steps{"ReloadDriver vmw_pvrdma"});
  Snapshot active = wrong_order_scene();
  rdma(active).port.state = PortState::Active;
  CHECK(plan_settled(active).actions.empty());
}

TEST_CASE("after a reload that did not help the host is named, and retries are spaced") {
  Snapshot snapshot = port_down_scene();
  snapshot.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{10'000})};
  const Plan waiting = plan_settled(snapshot);
  CHECK(waiting.actions.empty());
  CHECK(waiting.next_look == kNow + Milliseconds{20'000});
  REQUIRE(finding(waiting.findings, FindingId::PortDown) != nullptr);
  CHECK(finding(waiting.findings, FindingId::PortDown)->remedy.find("PVRDMAVmknic") !=
        std::string::npos);
  CHECK(assess({}, snapshot, waiting, {}, kNow).state == State::Failed);

  snapshot.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{80'000}),
                              attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{70'000}),
                              attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{60'000})};
  const Plan ended = plan_settled(snapshot);
  CHECK(ended.actions.empty());
  CHECK(finding(ended.findings, FindingId::GivingUp) != nullptr);
}

TEST_CASE("one look that cannot read the port takes no finding back, and flips no verdict") {
  Snapshot down = port_down_scene();
  for (const int ago : {80'000, 70'000, 60'000})
    down.ledger.attempts.push_back(attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{ago}));
  down.taken_at = kNow - Milliseconds{1000};
  const History before = long_settled(down);
  const auto verdict = [](const Snapshot& scene, const History& history) {
    return assess({}, scene, plan({}, scene, history, kNow), history, kNow);
  };
  const Health failed = verdict(down, before);
  REQUIRE(failed.state == State::Failed);
  REQUIRE(failed.findings.size() == 2);
  Snapshot bad = down;
  bad.taken_at = kNow;
  rdma(bad).port.state = Field<PortState>::unreadable({ETIMEDOUT, "asking", "the port"});
  const History history = advance(before, &down, bad);
  CHECK(verdict(bad, history).state == State::Failed);
  CHECK(verdict(bad, history).findings == failed.findings);
  CHECK(plan({}, bad, history, kNow).actions.empty());
}

TEST_CASE("a flapping port is not reloaded at each flap") {
  Snapshot snapshot = wrong_order_scene();
  snapshot.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{10'000})};
  History history = long_settled(snapshot);
  history.fresh_start = kNow - Milliseconds{5000};
  const Plan next = plan({}, snapshot, history, kNow);
  CHECK(next.actions.empty());
  CHECK(next.next_look == kNow + Milliseconds{20'000});
  CHECK(finding(next.findings, FindingId::PortDown) != nullptr);
}

TEST_CASE("no reload while a module that must precede the driver is still to be loaded") {
  Snapshot snapshot = port_down_scene();
  module(snapshot, "ib_umad") = unloaded("ib_umad");
  snapshot.ledger.attempts = {attempt(Verb::LoadModule, "ib_umad", Milliseconds{500})};
  CHECK(plan_settled(snapshot).actions.empty());
  // An administrator who asks for a reload does not wait for the module.
  History asked = long_settled(snapshot);
  asked.reload_asked = kNow;
  CHECK(described(plan({}, snapshot, asked, kNow)) == Steps{"ReloadDriver vmw_pvrdma"});
  module(snapshot, "ib_umad") = loaded("ib_umad", 9);
  CHECK(described(plan_settled(snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});
}

TEST_CASE("no holder of an adapter is disturbed") {
  Snapshot snapshot = wrong_order_scene();
  SECTION("a named holder") {
    hold(snapshot, 0);
    const Plan refused = plan_settled(snapshot);
    CHECK(refused.actions.empty());
    const Finding* found = finding(refused.findings, FindingId::DriverInUse);
    REQUIRE(found != nullptr);
    CHECK(found->summary.find("ibv_asyncwatch (PID 812)") != std::string::npos);
    CHECK(found->holders.size() == 1);
    CHECK(assess({}, snapshot, refused, {}, kNow).state == State::Degraded);
  }
  SECTION("a user in the kernel, which no count shows") {
    snapshot.holders = std::vector<Holder>{{0, "rdma_cm (kernel)", rdma(snapshot, 0).name}};
    CHECK(plan_settled(snapshot).actions.empty());
    const auto findings = plan_settled(snapshot).findings;
    const Finding* found = finding(findings, FindingId::DriverInUse);
    REQUIRE(found != nullptr);
    CHECK(found->summary.find("held by rdma_cm (kernel).") != std::string::npos);
  }
  SECTION("a refcount without a name") {
    hold(snapshot, 0, false);
    CHECK(plan_settled(snapshot).actions.empty());
    CHECK(finding(plan_settled(snapshot).findings, FindingId::DriverInUse) != nullptr);
  }
  SECTION("holders that cannot be read") {
    snapshot.holders = Field<std::vector<Holder>>::unreadable({1, "asking", "nldev"});
    CHECK(plan_settled(snapshot).actions.empty());
    CHECK(finding(plan_settled(snapshot).findings, FindingId::HoldersUnknown) != nullptr);
  }
  SECTION("a refcount that cannot be read") {
    module(snapshot, kDriverModule).refcount = Field<unsigned>::unreadable({5, "reading", "x"});
    CHECK(plan_settled(snapshot).actions.empty());
  }
}

TEST_CASE("two adapters: a job on one, the other broken") {
  Snapshot snapshot = port_down_scene(2);
  hold(snapshot, 0);
  const Plan refused = plan_settled(snapshot);
  CHECK(refused.actions.empty());
  CHECK(finding(refused.findings, FindingId::DriverInUse) != nullptr);
  const Health health = assess({}, snapshot, refused, {}, kNow);
  CHECK(health.adapters.at(0).state == State::Ready);
  CHECK(health.adapters.at(1).state == State::Degraded);
  CHECK(health.state == State::Degraded);
}

TEST_CASE("a netdev that the driver lost is repaired by a reload, never by a rebind") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 1).netdev = Field<std::string>::absent();
  CHECK(described(plan_settled(snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});
  hold(snapshot, 1);
  const Plan waiting = plan_settled(snapshot);
  CHECK(waiting.actions.empty());
  CHECK(finding(waiting.findings, FindingId::NetdevLost) != nullptr);
  CHECK(finding(waiting.findings, FindingId::DriverInUse) != nullptr);
}

TEST_CASE("a lost netdev does not wait for the spacing of reloads, and comes before other faults") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 1).netdev = Field<std::string>::absent();
  snapshot.ledger.attempts = {attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{20'000}),
                              attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{10'000})};
  History history = long_settled(snapshot);
  history.fresh_start = kNow - Milliseconds{5'000};  // an adapter has been removed since
  CHECK(described(plan({}, snapshot, history, kNow)) == Steps{"ReloadDriver vmw_pvrdma"});
  // Adapter 0 alone would have to wait.
  rdma(snapshot, 0).port.state = PortState::Down;
  CHECK(described(plan({}, snapshot, history, kNow)) == Steps{"ReloadDriver vmw_pvrdma"});
  rdma(snapshot, 1).netdev = std::string{"ens11"};
  CHECK(plan({}, snapshot, history, kNow).actions.empty());
}

TEST_CASE("a driver built in is rebound where it has one function") {
  Snapshot snapshot = port_down_scene();
  module(snapshot, kDriverModule).init = ModuleInit::BuiltIn;
  module(snapshot, kDriverModule).refcount = Field<unsigned>::absent();
  CHECK(described(plan_settled(snapshot)) == Steps{"RebindFunction 0000:00:10.1"});

  Snapshot two = port_down_scene(2);
  module(two, kDriverModule).init = ModuleInit::BuiltIn;
  CHECK(plan_settled(two).actions.empty());
  CHECK(finding(plan_settled(two).findings, FindingId::DriverBuiltIn) != nullptr);
  // No action is possible, so nothing is waited for, not even until readiness.timeout.
  History history = long_settled(two);
  for (auto& [function, seen] : history.adapters) seen.changed = kNow - Milliseconds{20'000};
  const Health health = assess({}, two, plan({}, two, history, kNow), history, kNow);
  CHECK(health.adapters.at(1).state == State::Degraded);
  CHECK(health.state == State::Degraded);
}

TEST_CASE("where no rung can help, none is tried") {
  Snapshot snapshot = port_down_scene();
  SECTION("no carrier") {
    netdev(snapshot).carrier = false;
    CHECK(plan_settled(snapshot).actions.empty());
    CHECK(finding(plan_settled(snapshot).findings, FindingId::NoCarrier) != nullptr);
  }
  SECTION("a port that cannot be read") {
    rdma(snapshot).port.state = Field<PortState>::unreadable({110, "reading", "state"});
    CHECK(plan_settled(snapshot).actions.empty());
  }
  SECTION("a driver that is still coming") {
    module(snapshot, kDriverModule).init = ModuleInit::Coming;
    CHECK(plan_settled(snapshot).actions.empty());
  }
}

TEST_CASE("where a reload cannot help, the port is reported while link and carrier are up") {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).port.state = PortState::Down;
  Config config;
  config.modules.reload = ReloadPolicy::Never;
  const auto says_port_down = [&] {
    return finding(plan_settled(snapshot, config).findings, FindingId::PortDown) != nullptr;
  };
  CHECK(says_port_down());
  SECTION("its link is down") { netdev(snapshot).link_up = false; }
  SECTION("its link has no carrier") { netdev(snapshot).carrier = false; }
  config.every_adapter.manage = Manage::Observe;
  CHECK_FALSE(says_port_down());  // the finding about link and carrier says it
}

TEST_CASE("rule 6: always is once per boot, never is never") {
  Config config;
  config.modules.reload = ReloadPolicy::Always;
  Snapshot snapshot = ready_scene();
  const auto state = [&] {
    return assess(config, snapshot, plan_settled(snapshot, config), long_settled(snapshot), kNow)
        .state;
  };
  CHECK(described(plan_settled(snapshot, config)) == Steps{"ReloadDriver vmw_pvrdma"});
  CHECK(state() == State::Converging);
  snapshot.ledger.reloads = 1;
  CHECK(plan_settled(snapshot, config).actions.empty());
  CHECK(state() == State::Ready);
  snapshot.ledger.reloads = 0;
  Snapshot built_in = snapshot;
  module(built_in, kDriverModule).init = ModuleInit::BuiltIn;
  module(built_in, kDriverModule).refcount = Field<unsigned>::absent();
  CHECK(described(plan_settled(built_in, config)) == Steps{"RebindFunction 0000:00:10.1"});
  built_in.ledger.rebinds = 1;
  CHECK(plan_settled(built_in, config).actions.empty());
  hold(snapshot, 0);
  CHECK(plan_settled(snapshot, config).actions.empty());

  config.modules.reload = ReloadPolicy::Never;
  Snapshot broken = port_down_scene();
  const Plan refused = plan_settled(broken, config);
  CHECK(refused.actions.empty());
  CHECK(finding(refused.findings, FindingId::ReloadForbidden) != nullptr);
  // The host is accused only once a reload has not helped.
  REQUIRE(finding(refused.findings, FindingId::PortDown) != nullptr);
  CHECK(finding(refused.findings, FindingId::PortDown)->actor == Actor::Guest);
  broken.ledger.reloads = 1;
  CHECK(finding(plan_settled(broken, config).findings, FindingId::PortDown)->actor == Actor::Host);
}

TEST_CASE("a reload on request keeps to the guards") {
  Snapshot snapshot = ready_scene();
  History history = long_settled(snapshot);
  history.reload_asked = kNow;
  CHECK(described(plan({}, snapshot, history, kNow)) == Steps{"ReloadDriver vmw_pvrdma"});
  hold(snapshot, 0);
  CHECK(plan({}, snapshot, history, kNow).actions.empty());
  CHECK(finding(plan({}, snapshot, history, kNow).findings, FindingId::DriverInUse) != nullptr);
}

TEST_CASE("a refusal because of a holder costs no budget, but is not repeated at once") {
  Snapshot snapshot = wrong_order_scene();
  for (int i = 0; i < 5; ++i)
    add(snapshot.ledger,
        attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{60'000}, Outcome::InUse));
  CHECK(described(plan_settled(snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});
  add(snapshot.ledger,
      attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{4000}, Outcome::InUse));
  const Plan later = plan_settled(snapshot);
  CHECK(later.actions.empty());
  CHECK(later.next_look == kNow + Milliseconds{1000});
}
