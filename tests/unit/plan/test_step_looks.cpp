// SPDX-License-Identifier: GPL-2.0-or-later
// step(): one look after the other: the memory between them, which of them may lead to actions, and
// the time of the next.
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

Agent saw_now(const Snapshot& seen, Config config = {}) {
  Agent agent{std::move(config)};
  agent.now = kNow;
  agent.look(seen);
  return agent;
}

Snapshot customized() {
  Snapshot snapshot = ready_scene();
  snapshot.customization = std::string{"cloud-init's local stage"};
  return snapshot;
}

ConfigLoaded bad_config(const std::string& error) {
  ConfigLoaded loaded;
  loaded.requested = true;
  loaded.error = error;
  return loaded;
}

}  // namespace

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
  CHECK(agent.effects.state_changed);
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

TEST_CASE("step: a bad configuration is a finding, and the good one stays in force") {
  Config never;
  never.modules.reload = ReloadPolicy::Never;
  Agent agent = saw_now(ready_scene(), never);
  agent.on(bad_config("/etc/x.toml:1: bad"));
  CHECK(agent.effects.config_rejected == "/etc/x.toml:1: bad");
  REQUIRE(agent.has(FindingId::ConfigBad));
  CHECK(finding(agent.state.health.findings, FindingId::ConfigBad)->summary.find("/etc/x.toml:1") !=
        std::string::npos);
  CHECK(agent.state.health.state == State::Degraded);
  CHECK(agent.state.config.modules.reload == ReloadPolicy::Never);
  ConfigLoaded good;
  good.requested = true;
  good.files = 3;
  agent.now += 1s;
  agent.on(good);
  CHECK(agent.effects.config_loaded == 3);
  CHECK(agent.effects.look);
  CHECK(agent.state.health.state == State::Ready);
  CHECK(agent.state.config == Config{});
  CHECK(agent.state.history.fresh_start == agent.now);
}

TEST_CASE("step: a part of the configuration that is left out is a finding until all counts") {
  Agent agent{{}, "guestinfo.pvrdma-agent.config:3: bad"};
  agent.look(ready_scene());
  REQUIRE(agent.has(FindingId::ConfigBad));
  CHECK(finding(agent.state.health.findings, FindingId::ConfigBad)->summary.find("config:3: bad") !=
        std::string::npos);
  ConfigLoaded whole;
  whole.requested = true;
  agent.on(whole);
  CHECK_FALSE(agent.has(FindingId::ConfigBad));
}

TEST_CASE("step: a configuration that may be old is read again before a look counts") {
  AgentState state = first_step({kNow - 1s, {}, {}, {}, {}}).state;
  const auto look = [&](const Snapshot& seen) {
    Stepped next = step(std::move(state), Looked{kNow, seen}, kNow);
    state = std::move(next.state);
    return next.effects;
  };
  SECTION("at the first look") {
    CHECK(look(ready_scene()).read_config);
    CHECK_FALSE(state.snapshot);
    ConfigLoaded changed;
    changed.config.modules.reload = ReloadPolicy::Always;
    const Stepped next = step(std::move(state), changed, kNow);
    CHECK(next.effects.config_loaded);
    CHECK(next.effects.concluded);
    CHECK(describe(next.effects.call.value()) == "ReloadDriver vmw_pvrdma");
  }
  SECTION("when the customization has ended") {
    CHECK_FALSE(look(customized()).read_config);
    CHECK_FALSE(look(customized()).read_config);
    CHECK(look(ready_scene()).read_config);
    // An unchanged configuration is not reported, and resets nothing.
    Stepped next = step(std::move(state), ConfigLoaded{}, kNow);
    CHECK_FALSE(next.effects.config_loaded);
    CHECK(next.state.history.fresh_start < kNow);
    CHECK(next.state.snapshot->customization.is_absent());
    state = std::move(next.state);
    CHECK_FALSE(look(ready_scene()).read_config);
  }
}

TEST_CASE("step: a bad configuration is reported once, and not again by each refusal") {
  Snapshot down = link_down();
  add(down.ledger,
      attempt(Verb::ConfigureLink, function_of(0), Milliseconds{100}, Outcome::NotAllowed));
  Agent agent = saw_now(down);
  CHECK(agent.has(FindingId::ActionRefused));
  agent.on(bad_config("/etc/x.toml:1: bad"));
  CHECK_FALSE(agent.has(FindingId::ActionRefused));
  CHECK(agent.has(FindingId::ConfigBad));
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
  SECTION("still coming") {
    Agent agent{{}, {}, Limits{20s, 30s, 10s, 30s}};
    agent.look(coming);
    CHECK_FALSE(agent.state.ready_told);
    agent.wait(19'999ms);
    CHECK_FALSE(agent.state.ready_told);
    agent.wait(1ms);
    CHECK(agent.effects.ready);
    agent.look(coming);
    CHECK_FALSE(agent.effects.ready);
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

TEST_CASE("step: a configuration that was bad at the start is read again without a request") {
  Config safe;
  safe.modules.reload = ReloadPolicy::Never;
  AgentState state = first_step({kNow, safe, {}, "/etc/x.toml:1: bad", {}}).state;
  ConfigLoaded bad;
  bad.error = "/etc/x.toml:1: bad";
  const auto look = [&](const ConfigLoaded& on_disk) {
    Stepped next = step(std::move(state), Looked{kNow, ready_scene()}, kNow);
    REQUIRE(next.effects.read_config);
    next = step(std::move(next.state), on_disk, kNow);
    state = std::move(next.state);
    return next.effects;
  };
  const Effects first = look(bad);
  CHECK_FALSE(first.config_rejected);  // it was logged already
  CHECK(first.ready);
  CHECK(first.looks->deliver_by <= kNow + 30s);
  const Finding* found = finding(state.health.findings, FindingId::ConfigBad);
  REQUIRE(found != nullptr);
  CHECK(found->summary.find("only what cannot harm") != std::string::npos);
  CHECK(found->summary.find("/etc/x.toml:1") != std::string::npos);
  CHECK(state.health.state == State::Degraded);
  state = step(std::move(state), ReloadAsked{1, Caller::Root, {}}, kNow).state;
  CHECK(state.reloads.empty());
  bad.error = "/etc/x.toml:2: bad";
  CHECK(look(bad).config_rejected == bad.error);
  CHECK(look(ConfigLoaded{}).config_loaded);
  CHECK_FALSE(state.is_safe_subset);
  CHECK(state.health.state == State::Ready);
  CHECK_FALSE(step(std::move(state), Looked{kNow, ready_scene()}, kNow).effects.read_config);
}

TEST_CASE("step: a configuration that could not be read is read again, an invalid one is not") {
  Agent agent;
  agent.look(ready_scene());
  ConfigLoaded bad = bad_config("/etc/x.toml:1: bad");
  agent.on(bad);
  agent.look(ready_scene());
  CHECK(agent.has(FindingId::ConfigBad));
  bad.unreadable = true;
  agent.on(bad);
  CHECK(agent.has(FindingId::ConfigBad));
  agent.look(ready_scene());
  CHECK_FALSE(agent.has(FindingId::ConfigBad));
}
