// SPDX-License-Identifier: GPL-2.0-or-later
// step(): a reload that a client asks for: when it is carried out, refused, or given up.
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

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
  SECTION("done: the answer is what a look sees afterwards") {
    agent.on(Looked{agent.now, link_down()});
    CHECK(agent.answers(ReloadDriver{}).look);
    CHECK(agent.answered().empty());
    agent.now += 1ms;
    SECTION("the look") {
      agent.on(Looked{agent.now - 2ms, link_down()});
      CHECK(agent.answered().empty());
      agent.on(Looked{agent.now, ready_scene()});
      CHECK(agent.answered() == Texts{"1 health", "2 health"});
      CHECK(agent.state.health.state == State::Ready);
    }
    SECTION("the look hangs") {
      agent.looking_since = agent.now;
      agent.told.clear();
      agent.wait(31s);
      CHECK(agent.told == Texts{"1 health", "2 health"});
      CHECK(agent.has(FindingId::LookStuck));
      CHECK(agent.state.refreshes.empty());
      agent.on(RefreshAsked{4, kRoot});
      CHECK(agent.answered() == Texts{"4 health"});
    }
    SECTION("no look begins") {
      agent.told.clear();
      agent.wait(60s);
      CHECK(agent.told == Texts{"1 health", "2 health"});
      CHECK(agent.state.refreshes.empty());
    }
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
    CHECK(agent.told.at(0) == "1 failed: the executor has not answered ReloadDriver vmw_pvrdma");
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

TEST_CASE("step: the answer about a reload that cannot be begun names the reason") {
  Agent agent = saw(ready_scene(), {}, TimeLimits{20s, 10s, 0ms, 30s});
  agent.on(ReloadAsked{1, kRoot, {}});
  Snapshot blind = ready_scene();
  blind.adapters = Field<std::vector<Adapter>>::unreadable({EMFILE, "opening", "the bus"});
  agent.look(blind);
  agent.told.clear();
  for (int second = 0; second < 12; ++second) {
    agent.wait(1s);
    agent.look(blind);
  }
  CHECK(taken(agent.told) ==
        Texts{"1 failed: the driver did not come to a state in which it can be reloaded: A part of "
              "the state is not known: opening the bus: Too many open files."});
}

TEST_CASE("step: a reload that cannot be begun is given up in time, and not carried out later") {
  Agent agent = saw(ready_scene(), {}, TimeLimits{20s, 10s, 0ms, 30s});
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
