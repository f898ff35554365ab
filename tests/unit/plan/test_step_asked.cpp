// SPDX-License-Identifier: GPL-2.0-or-later
// step(): the answers to clients, and their time.
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

TEST_CASE("step: an observation of at most two seconds is told at once, to all") {
  Agent agent = saw(ready_scene());
  agent.look(ready_scene());
  agent.now += 2s;
  agent.on(HealthAsked{1, kOther});
  CHECK(agent.answered() == Texts{"1 health"});
  CHECK_FALSE(agent.effects.look);
  agent.on(PlanAsked{2, kOther});
  CHECK(agent.answered() == Texts{"2 plan"});
  // An unchanged look that was not handed over counts as well.
  agent.now += 30s;
  agent.on(LookedSame{agent.now - 1s});
  agent.on(HealthAsked{3, kOther});
  CHECK(agent.answered() == Texts{"3 health"});
  CHECK(health_at(agent.state, agent.now).observed == agent.now - 1s);
}

TEST_CASE("step: before an older one there is a look") {
  Agent agent = saw(ready_scene());
  agent.on(HealthAsked{1, kRoot});
  agent.on(PlanAsked{2, kOther});
  CHECK(agent.state.fresh.size() == 2);
  CHECK(agent.effects.deadline <= agent.now + 400ms);
  SECTION("the answer has the new look") {
    agent.now += 100ms;
    agent.look(link_down());
    CHECK(agent.answered() == Texts{"1 health", "2 plan"});
    CHECK(agent.state.health.state == State::Converging);
  }
  SECTION("a look that was under way is new enough") {
    agent.on(Looked{agent.now - 1500ms, ready_scene()});
    CHECK(agent.answered().size() == 2);
  }
  SECTION("the answer has the old look where the new one does not end in time") {
    agent.wait(399ms);
    CHECK(agent.answered().empty());
    agent.wait(1ms);
    CHECK(agent.answered() == Texts{"1 health", "2 plan"});
    CHECK(health_at(agent.state, agent.now).observed == kNow);
    // The look is late, so later clients do not wait for it.
    agent.on(HealthAsked{3, kRoot});
    CHECK(agent.answered() == Texts{"3 health"});
  }
  SECTION("no answer to a client that has left") {
    agent.on(ClientLeft{1});
    agent.look(ready_scene());
    CHECK(agent.answered() == Texts{"2 plan"});
  }
}

TEST_CASE("step: before the first look nothing is known, and clients wait briefly for it") {
  Agent agent;
  agent.on(HealthAsked{1, kOther});
  CHECK(agent.answered().empty());
  agent.wait(400ms);
  CHECK(agent.answered() == Texts{"1 health"});
  CHECK(health_at(agent.state, agent.now).state == State::Unknown);
  agent.on(HealthAsked{2, kOther});
  CHECK(agent.answered() == Texts{"2 health"});
}

TEST_CASE("step: however many other users ask for a look, there is one in a second") {
  Agent agent = saw(ready_scene());
  const auto ask_twenty = [&](ClientId from) {
    int looks = 0;
    for (ClientId client = from; client < from + 20; ++client)
      looks += agent.on(RefreshAsked{client, kOther}).look ? 1 : 0;
    return looks;
  };
  CHECK(ask_twenty(1) == 1);
  const BootTime first = agent.now;
  agent.now += 5ms;
  agent.look(ready_scene());
  CHECK(agent.answered().size() == 20);
  CHECK(ask_twenty(21) == 0);
  CHECK(agent.effects.deadline == first + 1s);
  agent.wait(995ms);
  CHECK(agent.effects.look);
  agent.now += 5ms;
  agent.look(ready_scene());
  CHECK(agent.answered().size() == 20);
  // Only root resets the budget.
  CHECK(agent.state.history.fresh_start < kNow);
  // Health requests have the same limit; beyond it they get the last observation.
  agent.now += 100ms;
  agent.state.health.observed = agent.state.confirmed = kNow;
  agent.on(HealthAsked{99, kOther});
  CHECK(agent.answered() == Texts{"99 health"});
  CHECK_FALSE(agent.effects.look);
}

TEST_CASE("step: root does not wait, and its look answers those who do") {
  Agent agent = saw(ready_scene());
  agent.on(RefreshAsked{1, kOther});
  agent.now += 5ms;
  agent.look(ready_scene());
  agent.on(RefreshAsked{2, kOther});
  CHECK_FALSE(agent.effects.look);
  agent.on(RefreshAsked{3, Caller::Agent});
  CHECK(agent.effects.look);
  CHECK(agent.state.history.fresh_start < kNow);
  agent.on(RefreshAsked{4, kRoot});
  CHECK(agent.effects.look);
  CHECK(agent.state.history.fresh_start == agent.now);
  agent.now += 5ms;
  agent.look(ready_scene());
  CHECK(agent.answered() == Texts{"2 health", "3 health", "4 health"});
  // The second is over and no client waits, so there is no look.
  agent.wait(1200ms);
  CHECK_FALSE(agent.state.look_asked);
}

TEST_CASE("step: a refresh is answered by a look that began after it") {
  Agent agent = saw(ready_scene());
  agent.on(RefreshAsked{1, kRoot});
  agent.on(Looked{agent.now - 1ms, ready_scene()});
  CHECK(agent.answered().empty());
  agent.on(Looked{agent.now, ready_scene()});
  CHECK(agent.answered() == Texts{"1 health"});
}

TEST_CASE("step: a refresh is answered within a minute, even if no look begins") {
  Agent agent = saw(ready_scene());
  agent.on(RefreshAsked{1, kRoot});
  agent.now += 10s;
  agent.on(RefreshAsked{2, kOther});
  agent.wait(49'999ms);
  CHECK(agent.told.empty());
  agent.wait(1ms);
  CHECK(taken(agent.told) == Texts{"1 health"});
  CHECK(health_at(agent.state, agent.now).state == State::Unknown);
  agent.wait(10s);
  CHECK(taken(agent.told) == Texts{"2 health"});
  CHECK(agent.state.refreshes.empty());
}

TEST_CASE("step: watchers are told of changes, not of unchanged looks") {
  Agent agent = saw(ready_scene());
  agent.on(WatchAsked{1, true});
  CHECK(agent.answered() == Texts{"1 watched"});
  agent.on(WatchAsked{2, false});
  CHECK(agent.answered() == Texts{"2 health"});
  agent.look(ready_scene());
  CHECK(agent.answered().empty());
  agent.look(link_down());
  CHECK(agent.answered() == Texts{"1 watched"});
  agent.now += 1s;  // a link that has just gone down is left for a second
  agent.look(link_down());
  CHECK(agent.call() == "ConfigureLink " + function_of(0));
  CHECK(agent.answered() == Texts{"1 watched"});  // once, although a call begins as well
  agent.on(ClientLeft{1});
  agent.look(ready_scene());
  CHECK(agent.answered().empty());
  CHECK(agent.state.watchers.empty());
}

TEST_CASE("step: changes are for root alone; a refusal tells nothing of the target") {
  Agent agent = saw(ready_scene());
  for (const Caller caller : {kOther, Caller::Agent}) {
    agent.on(ReloadAsked{1, caller, "eth7"});
    CHECK(agent.answered() == Texts{"1 denied: Reload"});
    agent.on(AcknowledgeAsked{2, caller, {}});
    CHECK(agent.answered() == Texts{"2 denied: Acknowledge"});
  }
  CHECK_FALSE(agent.state.history.reload_asked);
}

TEST_CASE("step: an adapter that was removed is acknowledged by any name it had, or with all") {
  Snapshot two = ready_scene(2);
  for (unsigned i = 0; i < 2; ++i) netdev(two, i).permanent_mac = netdev(two, i).mac;
  Agent agent = saw(two);
  agent.look(ready_scene(0));
  CHECK(agent.state.health.state == State::Degraded);
  agent.on(AcknowledgeAsked{1, kRoot, "eth7"});
  CHECK(agent.answered() == Texts{"1 no such adapter: eth7"});
  agent.on(AcknowledgeAsked{2, kRoot, netdev(two, 0).name});
  CHECK(agent.answered() == Texts{"2 health"});
  agent.on(AcknowledgeAsked{3, kRoot, function_of(0)});
  CHECK(agent.answered() == Texts{"3 no such adapter: " + function_of(0)});
  agent.on(AcknowledgeAsked{4, kRoot, netdev(two, 1).mac});
  CHECK(agent.answered() == Texts{"4 health"});
  CHECK(agent.state.health.state == State::Absent);
  agent.on(AcknowledgeAsked{5, kRoot, {}});
  CHECK(agent.answered() == Texts{"5 health"});
}
