// SPDX-License-Identifier: GPL-2.0-or-later
// step(): when the configuration is read again, and what a bad one changes.
#include "agent/base/text.hpp"
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

ConfigLoaded bad_config(const std::string& error) {
  ConfigLoaded loaded;
  loaded.requested = true;
  loaded.error = error;
  return loaded;
}

}  // namespace

TEST_CASE("step: a bad configuration is a finding, and the good one stays in force") {
  Config never;
  never.modules.reload = ReloadPolicy::Never;
  Agent agent = saw_now(ready_scene(), never);
  agent.on(bad_config("/etc/x.toml:1: bad"));
  CHECK_FALSE(agent.effects.config_rejected);  // the finding is logged
  REQUIRE(agent.has(FindingId::ConfigBad));
  agent.on(bad_config("/etc/x.toml:1: bad"));
  CHECK(agent.effects.config_rejected == "/etc/x.toml:1: bad");
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

TEST_CASE("step: what an invalid configuration forbids is told by config-bad alone") {
  Config safe;
  safe.modules.reload = ReloadPolicy::Never;
  ConfigLoaded bad;
  bad.error = "/etc/x.toml:1: bad";
  AgentState state = first_step({kNow, safe, {}, bad.error, {}}).state;
  for (const BootTime when : {kNow, kNow + 2 * kSettle}) {
    Snapshot seen = port_down_scene();
    seen.taken_at = when;
    state = step(std::move(state), Looked{when, std::move(seen)}, when).state;
    state = step(std::move(state), bad, when).state;
  }
  CHECK(finding(state.health.findings, FindingId::ConfigBad) != nullptr);
  CHECK(finding(state.health.findings, FindingId::PortDown) != nullptr);
  CHECK(finding(state.health.findings, FindingId::ReloadForbidden) == nullptr);
}

TEST_CASE("step: an adapter that waits for a reload in vain is degraded, not converging") {
  Config safe;
  safe.modules.reload = ReloadPolicy::Never;
  AgentState state = first_step({kNow, safe, {}, "/etc/x.toml:1: bad", {}}).state;
  for (const BootTime when : {kNow, kNow + 2 * kSettle}) {
    Snapshot seen = ready_scene();
    rdma(seen).netdev = Field<std::string>::absent();
    seen.taken_at = when;
    state = step(std::move(state), Looked{when, std::move(seen)}, when).state;
    state = step(std::move(state), bad_config("/etc/x.toml:1: bad"), when).state;
  }
  CHECK(state.health.state == State::Degraded);
  CHECK(finding(state.health.findings, FindingId::NetdevLost) != nullptr);
  const Finding* forbidden = finding(state.health.findings, FindingId::ReloadForbidden);
  REQUIRE(forbidden != nullptr);
  CHECK_FALSE(has_part(forbidden->summary, "\"never\""));  // no file says so
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
  CHECK_FALSE(first.config_rejected);
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
  CHECK(look(bad).concluded);
  CHECK(finding(state.health.findings, FindingId::ConfigBad)->summary.find(bad.error) !=
        std::string::npos);
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

TEST_CASE("step: what only the configuration before wanted is not carried out after its reload") {
  Config before;
  before.adapters = {
      {{std::nullopt, "0000:00:10.0", std::nullopt}, Manage::Auto, {}, {"192.168.30.201/24"}}};
  Snapshot seen = ready_scene();
  module(seen, "mlx4_ib") = unloaded("mlx4_ib");
  Agent agent = saw_now(seen, before);
  REQUIRE(agent.call() == "LoadModule mlx4_ib");
  ConfigLoaded changed;
  changed.requested = true;
  changed.config = before;
  changed.config.adapters[0].addresses = {"192.168.30.202/24"};
  agent.on(changed);
  agent.answers(LoadModule{"mlx4_ib"});
  CHECK(agent.calls == Texts{"LoadModule mlx4_ib"});
  CHECK(agent.effects.look);
}
