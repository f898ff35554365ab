// SPDX-License-Identifier: GPL-2.0-or-later
// step(): one look after the other: the memory between them, which of them may lead to actions, and
// the time of the next.
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

TEST_CASE("step: nothing is claimed before the first look") {
  const Agent agent;
  CHECK(agent.state.health.state == State::Unknown);
  CHECK(agent.calls.empty());
  CHECK_FALSE(agent.effects.ready);
  CHECK(agent.effects.looks);
}

TEST_CASE("step: a state keeps its date until it changes") {
  Agent agent = saw_now(ready_scene());
  CHECK(agent.state.health.state == State::Ready);
  CHECK(agent.state.health.since == kNow);
  agent.now += 1s;
  agent.look(ready_scene());
  CHECK(agent.state.health.since == kNow);
  agent.now += 1s;
  agent.look(link_down());
  CHECK(agent.state.health.state == State::Converging);
  CHECK(agent.state.health.since == kNow + 2s);
  CHECK(agent.state.health.adapters.at(0).transitions == 1);
}

TEST_CASE("step: a look that began before the executor's last answer is not acted on") {
  Agent agent = saw_now(link_down());
  agent.now += 50ms;
  agent.answers(ConfigureLink{function_of(0), "ens10", {}, {}}, Outcome::Failed);
  agent.calls.clear();
  Snapshot both = link_down(2);
  netdev(both, 1).link_up = false;
  agent.on(Looked{agent.now - 1ms, both});
  CHECK_FALSE(agent.state.plan.actions.empty());
  CHECK(agent.calls.empty());
  agent.on(Looked{agent.now, both});
  CHECK(agent.calls == Texts{"ConfigureLink " + function_of(1)});
}

TEST_CASE("step: a boot begins with the start of the agent, and each look adds its steps") {
  Agent agent;
  agent.now = kNow + 5s;
  agent.look(ready_scene());
  CHECK(agent.state.boot.find(StepKind::AgentStarted)->at == kNow - 1s);
  CHECK(agent.state.boot.find(StepKind::Ready)->at == kNow + 5s);
}

TEST_CASE("step: network managers may start once the driver is live, or the limit is over") {
  Snapshot coming = ready_scene();
  module(coming, kDriverModule).init = ModuleInit::Coming;
  SECTION("live") {
    Agent agent;
    agent.look(ready_scene());
    CHECK(agent.state.ready_told);
    agent.look(ready_scene());
    CHECK_FALSE(agent.effects.ready);
  }
  SECTION("live, and the executor has bound the last function") {
    Snapshot away = ready_scene();
    module(away, kDriverModule) = unloaded(kDriverModule);
    adapter(away).driver = Field<std::string>::absent();
    adapter(away).rdma_device = Field<RdmaDevice>::absent();
    Agent agent;
    agent.look(away);
    REQUIRE(agent.calls == Texts{"LoadModule vmw_pvrdma"});
    agent.look(ready_scene());
    CHECK_FALSE(agent.state.ready_told);
    agent.answers(LoadModule{kDriverModule});
    agent.look(ready_scene());
    CHECK(agent.state.ready_told);
  }
  SECTION("live, and reloaded at each boot") {
    Config always;
    always.modules.reload = ReloadPolicy::Always;
    Agent agent{always};
    agent.look(ready_scene());
    REQUIRE(agent.calls == Texts{"ReloadDriver vmw_pvrdma"});
    CHECK_FALSE(agent.state.ready_told);
  }
  SECTION("live, and reloaded at each boot after gentler operations") {
    Config always;
    always.modules.reload = ReloadPolicy::Always;
    Agent agent{always};
    Snapshot early = GENERATE(ready_scene(), link_down());
    const bool is_up = netdev(early).link_up;
    if (is_up) module(early, "ib_umad") = unloaded("ib_umad");
    agent.look(early);
    REQUIRE(agent.calls == Texts{is_up ? "LoadModule ib_umad" : "ConfigureLink " + function_of(0)});
    CHECK_FALSE(agent.state.ready_told);
    CHECK(agent.state.health.state == State::Converging);
    early.ledger.reloads = 1;
    agent.look(early);
    CHECK(agent.state.ready_told);
  }
  SECTION("still coming") {
    Agent agent{{}, {}, TimeLimits{20s, 30s, 10s, 30s}};
    agent.look(coming);
    CHECK_FALSE(agent.state.ready_told);
    agent.wait(19'999ms);
    CHECK_FALSE(agent.state.ready_told);
    agent.wait(1ms);
    CHECK(agent.effects.ready);
    agent.look(coming);
    CHECK_FALSE(agent.effects.ready);
  }
  SECTION("not known, as the adapters could not be read") {
    Snapshot blind = ready_scene();
    blind.adapters = Field<std::vector<Adapter>>::unreadable({EMFILE, "opening", "the bus"});
    Agent agent;
    agent.look(blind);
    CHECK_FALSE(agent.state.ready_told);
    SECTION("the next look reads them") {
      agent.look(ready_scene());
      CHECK(agent.state.ready_told);
    }
    SECTION("for too long") {
      agent.wait(19'999ms);
      agent.look(blind);
      CHECK_FALSE(agent.state.ready_told);
      agent.wait(1ms);
      CHECK(agent.effects.ready);
    }
  }
}

TEST_CASE("step: looks become rarer while nothing is planned, pending or changing") {
  Snapshot failed = ready_scene();
  module(failed, "rdma_cm") = unloaded("rdma_cm");
  module(failed, "rdma_cm").shipped = Shipped::Missing;
  for (const Snapshot& seen : {ready_scene(), failed, ready_scene(0)}) {
    Agent agent = saw_now(seen);
    CHECK(agent.effects.looks);
    for (const auto interval : {4s, 8s, 16s, 30s, 30s}) {
      agent.now += 1s;
      agent.look(seen);
      REQUIRE(agent.effects.looks->interval == interval);
      // An unchanged look is handed over now and then, and feeds the watchdog.
      CHECK(agent.effects.looks->deliver_by == agent.now + (interval < 30s ? interval : 60s));
      CHECK(agent.effects.alive);
    }
    Snapshot changed = seen;
    changed.kernel = std::string{"6.2"};
    agent.look(changed);
    CHECK(agent.effects.looks->interval == 2s);
  }
  Agent agent = saw_now(link_down());
  for (int look = 0; look < 5; ++look) {
    agent.now += 1s;
    agent.look(link_down());
    CHECK(agent.effects.looks->interval == 2s);
  }
}

TEST_CASE("step: time alone may change a plan, so there is a look then") {
  Agent agent = saw_now(customized());
  REQUIRE(agent.state.plan.next_look);
  for (int look = 0; look < 5; ++look) agent.look(customized());
  CHECK(agent.effects.looks->deliver_by <= *agent.state.plan.next_look);
}

TEST_CASE("step: a look that hangs is a finding, and no reason to kill the agent") {
  Agent agent = saw_now(ready_scene());
  for (int look = 0; look < 6; ++look) agent.look(ready_scene());
  agent.fed = 0;
  // The look was due a minute later, and is asked for; a timer that missed it would take it now.
  agent.wait(70s);
  CHECK(agent.effects.look);
  CHECK_FALSE(agent.state.look_stuck);
  agent.now += 10ms;
  SECTION("it returns") {
    agent.look(ready_scene());
    agent.wait(40s);
    CHECK_FALSE(agent.has(FindingId::LookStuck));
  }
  SECTION("it does not") {
    const BootTime began = agent.now;
    agent.looking_since = began;
    agent.wait(31s);
    CHECK(agent.has(FindingId::LookStuck));
    CHECK(agent.state.look_stuck == began);
    CHECK(health_at(agent.state, agent.now).state == State::Unknown);
    CHECK(agent.fed == 1);  // some 100 s after the last time; the unit's limit is two minutes
    agent.wait(90s);
    CHECK(agent.fed == 4);
    agent.look(ready_scene());
    CHECK_FALSE(agent.has(FindingId::LookStuck));
    CHECK(agent.state.health.state == State::Ready);
  }
  SECTION("it does not, but the machine was suspended meanwhile") {
    agent.looking_since = agent.now;
    agent.now += 600s;
    agent.on(Deadline{agent.looking_since});
    // The service manager's clock stands still meanwhile.
    CHECK(agent.fed == 1);
    agent.wait(29'999ms);
    CHECK_FALSE(agent.has(FindingId::LookStuck));
    agent.wait(1ms);
    CHECK(agent.has(FindingId::LookStuck));
  }
  SECTION("it does not even begin") {
    agent.wait(150s);
    CHECK(agent.fed == 0);
    CHECK_FALSE(agent.has(FindingId::LookStuck));
  }
}

TEST_CASE("step: a first look that hangs is reported as well") {
  Agent agent;
  agent.looking_since = agent.now;
  agent.wait(30s);
  CHECK(agent.has(FindingId::LookStuck));
  CHECK(agent.state.health.state == State::Unknown);
  CHECK(agent.fed == 1);
}

namespace {

// So many events of the kernel, each with a look that begins after the event. Returns how many of
// them asked for that look.
int looks_of_events(Agent& agent, int events, Milliseconds apart) {
  int looks = 0;
  for (int event = 0; event < events; ++event) {
    agent.wait(apart);
    looks += agent.on(KernelChanged{}).look ? 1 : 0;
    Snapshot seen = ready_scene();
    seen.taken_at = agent.now;
    agent.on(Looked{agent.now, seen});
  }
  return looks;
}

}  // namespace

TEST_CASE("step: a boot's burst of events has a look for each event at once") {
  Agent agent = saw_now(ready_scene());
  CHECK(looks_of_events(agent, 60, 10ms) == 60);
  agent.wait(60s);
  CHECK(looks_of_events(agent, 60, 10ms) == 60);
}

TEST_CASE("step: peers that cause event after event get few looks, the last event a look soon") {
  Agent agent = saw_now(ready_scene());
  CHECK(looks_of_events(agent, 1000, 1ms) < 70);
  CHECK_FALSE(agent.state.look_asked);
  agent.on(KernelChanged{});
  CHECK_FALSE(agent.effects.look);
  SECTION("when the limit allows one") {
    agent.wait(500ms);
    CHECK(agent.state.look_asked);
  }
  SECTION("or one that was asked for otherwise") {
    CHECK(agent.on(RefreshAsked{1, kRoot}).look);
    agent.on(Looked{agent.now, ready_scene()});
    agent.wait(500ms);
    CHECK_FALSE(agent.state.look_asked);
  }
}

TEST_CASE("step: events while a look is under way ask for another look, and count once") {
  Agent agent = saw_now(ready_scene());
  for (int event = 0; event < 1000; ++event) {
    agent.now += 1ms;
    CHECK(agent.on(KernelChanged{}).look);
    CHECK(agent.state.look_asked == agent.now);
  }
  agent.look(ready_scene());
  CHECK(looks_of_events(agent, 60, 1ms) == 60);
}

TEST_CASE("plan: a port that follows its link is looked at soon, as no event tells of it") {
  Snapshot snapshot = ready_scene();
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow;
  adapter(snapshot).rdma_device.get()->port.state = PortState::Down;
  const auto looks_after = [&](Milliseconds passed) {
    return plan({}, snapshot, history, kNow + passed).next_look.value() - kNow - passed;
  };
  CHECK(looks_after(0ms) == 20ms);
  CHECK(looks_after(15ms) == 20ms);
  CHECK(looks_after(40ms) == 40ms);
  CHECK(looks_after(800ms) == 800ms);
  CHECK(looks_after(2000ms) == kSettle - 2000ms);
  netdev(snapshot).link_up = false;
  CHECK_FALSE(plan({}, snapshot, history, kNow).next_look);
}
