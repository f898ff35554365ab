// SPDX-License-Identifier: GPL-2.0-or-later
// step(): the answers to clients, and their time.
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

constexpr Caller kRoot = Caller::Root, kOther = Caller::Other;

// An agent whose last look, half a minute ago, saw this.
Agent saw(const Snapshot& snapshot, Config config = {}, Limits limits = {}) {
  Agent agent{std::move(config), {}, limits};
  agent.now = kNow;
  agent.look(snapshot);
  agent.now += 30s;
  agent.effects = {};
  return agent;
}

Snapshot held() {
  Snapshot snapshot = ready_scene();
  snapshot.holders = std::vector<Holder>{{812, "ibv_asyncwatch", "rocep0s10f1"}};
  module(snapshot, kDriverModule).refcount = 1U;
  return snapshot;
}

Texts taken(Texts& list) { return std::exchange(list, {}); }

}  // namespace

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

TEST_CASE("step: a reload is carried out, and all who asked for it are told when it has ended") {
  Agent agent = saw(ready_scene());
  agent.on(ReloadAsked{1, kRoot, {}});
  CHECK(agent.effects.look);
  agent.on(ReloadAsked{2, kRoot, "ens10"});
  CHECK(agent.answered().empty());
  agent.now += 5ms;
  agent.look(ready_scene());
  REQUIRE(agent.call() == "ReloadDriver vmw_pvrdma");
  agent.on(ReloadAsked{3, kRoot, {}});
  CHECK(agent.answered() == Texts{"3 failed: ReloadDriver vmw_pvrdma is still under way"});
  SECTION("done") {
    agent.answers(ReloadDriver{});
    CHECK(agent.answered() == Texts{"1 health", "2 health"});
  }
  SECTION("an adapter is in use") {
    agent.on(CallEnded{ReloadDriver{}, {{Outcome::InUse, "in use", EBUSY, {{812, "x", "y"}}}}});
    CHECK(agent.answered() == Texts{"1 in use: in use", "2 in use: in use"});
    CHECK(agent.effects.answers[0].holders.size() == 1);
  }
  SECTION("it did not work") {
    agent.answers(ReloadDriver{}, Outcome::Failed, "the kernel said no");
    CHECK(agent.answered() ==
          Texts{"1 failed: the kernel said no", "2 failed: the kernel said no"});
  }
  SECTION("the executor died in it") {
    agent.on(CallEnded{ReloadDriver{}, fail(ECONNRESET, "waiting for", "it")});
    CHECK(agent.answered().at(0) == "1 failed: waiting for it: Connection reset by peer");
  }
  SECTION("it hangs in the kernel") {
    agent.wait(59s);
    CHECK(taken(agent.told).back() == "3 failed: ReloadDriver vmw_pvrdma is still under way");
    agent.wait(1s);
    CHECK(agent.told.at(0) ==
          "1 failed: ReloadDriver vmw_pvrdma has not come back from the kernel");
  }
  CHECK_FALSE(agent.state.history.reload_asked);
  CHECK(agent.state.reloads.empty());
}

TEST_CASE("step: a forbidden reload is refused, with the reason") {
  Agent agent = saw(ready_scene());
  agent.on(ReloadAsked{1, kRoot, "eth7"});
  CHECK(agent.answered() == Texts{"1 no such adapter: eth7"});
  Agent none = saw(ready_scene(0));
  none.on(ReloadAsked{1, kRoot, {}});
  CHECK(none.answered() == Texts{"1 failed: this VM has no PVRDMA adapter"});
  Config never;
  never.modules.reload = ReloadPolicy::Never;
  Agent forbidden = saw(ready_scene(), never);
  forbidden.on(ReloadAsked{1, kRoot, {}});
  CHECK(forbidden.answered() ==
        Texts{"1 failed: modules.reload is \"never\" in the configuration"});
  for (const Agent* one : {&agent, &none, &forbidden}) CHECK_FALSE(one->state.history.reload_asked);
}

TEST_CASE("step: a job comes first, but only by a look that began after the request") {
  Agent agent = saw(ready_scene());
  agent.on(ReloadAsked{1, kRoot, {}});
  agent.on(Looked{agent.now - 1ms, held()});
  CHECK(agent.answered().empty());
  SECTION("the job has ended") {
    agent.on(Looked{agent.now, ready_scene()});
    CHECK(agent.call() == "ReloadDriver vmw_pvrdma");
  }
  SECTION("the job goes on") {
    agent.on(Looked{agent.now, held()});
    CHECK(agent.answered().size() == 1);
    CHECK(agent.effects.answers[0].what == Answer::What::InUse);
    CHECK(agent.effects.answers[0].holders[0].pid == 812);
    // No caller waits for the reload any more.
    CHECK_FALSE(agent.has(FindingId::DriverInUse));
    agent.look(ready_scene());
    CHECK(agent.calls.empty());
  }
}

TEST_CASE("step: a reload that cannot be begun is given up in time, and not carried out later") {
  Agent agent = saw(ready_scene(), {}, Limits{20s, 10s, 0ms, 30s});
  agent.state.paused_until = agent.now + 1h;
  agent.on(ReloadAsked{1, kRoot, {}});
  agent.now += 5ms;
  agent.look(ready_scene());
  CHECK(agent.state.plan.actions.size() == 1);  // not begun: the executor is not asked
  agent.wait(5s);
  agent.on(ReloadAsked{2, kRoot, {}});
  agent.told.clear();
  agent.wait(5s);
  CHECK(taken(agent.told) ==
        Texts{"1 failed: the driver did not come to a state in which it can be reloaded"});
  CHECK(agent.state.history.reload_asked);
  agent.wait(5s);
  CHECK(agent.told.size() == 1);
  CHECK_FALSE(agent.state.history.reload_asked);
  CHECK(agent.state.plan.actions.empty());
  CHECK(agent.calls.empty());
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
