// SPDX-License-Identifier: GPL-2.0-or-later
// Properties over seeded random snapshots and random machines: they must hold for all of them.
#include <algorithm>
#include <array>

#include "agent/model/attempt.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/plan/questions.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/kernel_model.hpp"
#include "tests/unit/random_fields.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

// Any mixture of states, even those that no kernel shows.
Snapshot random_snapshot(Random& random) {
  Snapshot snapshot = ready_scene(static_cast<unsigned>(random() % 11));
  for (Module& module : snapshot.modules) {
    if (chance(random, 20)) module = unloaded(module.name);
    if (chance(random, 20))
      module.init = std::array{ModuleInit::Coming, ModuleInit::Going, ModuleInit::Live,
                               ModuleInit::BuiltIn}[random() % 4];
    if (chance(random, 20)) module.load_order = static_cast<unsigned>(random() % 10);
    if (chance(random, 20)) module.refcount = static_cast<unsigned>(random() % 3);
    lose(random, module.init);
    lose(random, module.refcount);
    lose(random, module.shipped);
  }
  for (unsigned i = 0; i < snapshot.adapters.get()->size(); ++i) {
    if (chance(random, 40)) rdma(snapshot, i).port.state = PortState::Down;
    lose(random, rdma(snapshot, i).port.state);
    lose(random, rdma(snapshot, i).netdev);
    netdev(snapshot, i).link_up = chance(random, 70);
    lose(random, netdev(snapshot, i).carrier);
    lose(random, netdev(snapshot, i).settled);
    if (chance(random, 30))
      netdev(snapshot, i).owner = LinkOwner{LinkManager::Networkd, chance(random, 50), {}};
    lose(random, netdev(snapshot, i).owner);
    if (chance(random, 30)) netdev(snapshot, i).addresses = {{"10.0.0.1/24", chance(random, 50)}};
    lose(random, adapter(snapshot, i).driver);
    if (chance(random, 20)) adapter(snapshot, i).rdma_device = Field<RdmaDevice>::absent();
    if (chance(random, 20)) adapter(snapshot, i).netdev = Field<Netdev>::absent();
  }
  if (chance(random, 30)) snapshot.holders = std::vector<Holder>{{7, "job", "rocep0s10f1"}};
  lose(random, snapshot.holders);
  if (chance(random, 40))
    snapshot.ledger.attempts.push_back(
        attempt(Verb::ConfigureLink, function_of(0), Milliseconds{9000}));
  if (chance(random, 20))
    snapshot.ledger.attempts.push_back(
        attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{40'000}, Outcome::Failed));
  if (chance(random, 15)) snapshot.ledger_error = Error{28, "writing", "the ledger"};
  const unsigned often = chance(random, 20) ? kMostReloads : 0;
  for (unsigned i = 0; i < often; ++i)
    add(snapshot.ledger, attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{200'000}));
  if (chance(random, 50)) snapshot.boot_scripts = {{"/etc/rc.local", chance(random, 50)}};
  return snapshot;
}

// A configuration with MTU and addresses for the first adapter.
Config addressed() {
  Config config;
  config.adapters = {{{std::nullopt, function_of(0), std::nullopt},
                      Manage::Auto,
                      9000U,
                      {"10.0.0.1/24", "fd00::1/64"}}};
  return config;
}

Config random_config(Random& random) {
  Config config;
  config.modules.reload =
      std::array{ReloadPolicy::Auto, ReloadPolicy::Always, ReloadPolicy::Never}[random() % 3];
  if (chance(random, 30))
    config.adapters = {{{std::nullopt, function_of(0), std::nullopt}, Manage::Observe, {}, {}}};
  else if (chance(random, 50))
    config.adapters = {{{std::nullopt, function_of(0), std::nullopt},
                        chance(random, 50) ? Manage::Auto : Manage::Agent,
                        9000U,
                        {"10.0.0.1/24", "fd00::1/64"}}};
  return config;
}

void check_unload(const Config& config, const Snapshot& snapshot) {
  CHECK_FALSE(snapshot.ledger_error);
  CHECK(config.modules.reload != ReloadPolicy::Never);
  REQUIRE(snapshot.holders.is_known());
  CHECK(snapshot.holders.get()->empty());
  CHECK(unfinished(snapshot.boot_scripts) == nullptr);
  const Module* driver = snapshot.module(kDriverModule);
  CHECK((driver->refcount.is(0) || driver->init.is(ModuleInit::BuiltIn)));
}

void check_action(const Config& config, const Snapshot& snapshot, const Operation& operation) {
  if (takes_driver_away(operation)) check_unload(config, snapshot);
  if (const auto* load = std::get_if<LoadModule>(&operation)) {
    const auto names = predecessors(config);
    CHECK((load->module == kDriverModule ||
           std::find(names.begin(), names.end(), load->module) != names.end()));
    CHECK(snapshot.module(load->module)->init.is_absent());
  }
  if (const auto* link = std::get_if<ConfigureLink>(&operation)) {
    CHECK(is_live(snapshot, kDriverModule));
    CHECK(link_is_ours(config, *snapshot.adapter(link->function)));
    const AdapterConfig& wanted = config_of(config, *snapshot.adapter(link->function));
    if (link->mtu) CHECK(link->mtu == wanted.mtu);
    for (const std::string& address : link->addresses)
      CHECK(std::count(wanted.addresses.begin(), wanted.addresses.end(), address) == 1);
  }
}

KernelModel random_machine(Random& random) {
  KernelModel kernel;
  kernel.adapters.resize(1 + random() % 10);
  std::vector<std::string> names{"vmxnet3", "mlx4_ib", "ib_umad", "rdma_cm", "rdma_ucm"};
  if (chance(random, 20)) {
    kernel.missing.push_back("mlx4_ib");
    names.erase(names.begin() + 1);
  }
  names.push_back(kDriverModule);
  std::shuffle(names.begin(), names.end(), random);
  for (const std::string& name : names)
    if (chance(random, 60)) kernel.modules.push_back(name);
  const bool probed = kernel.loaded(kDriverModule) && kernel.loaded(kNetModule);
  for (ModelAdapter& adapter : kernel.adapters) {
    adapter.bound = probed && chance(random, 80);
    adapter.paired = adapter.bound && chance(random, 80);
    adapter.up = chance(random, 50);
    adapter.needs_right_order = chance(random, 30);
    adapter.needs_reload = chance(random, 20);
  }
  return kernel;
}

}  // namespace

TEST_CASE("no plan ever has a forbidden load or unload", "[property]") {
  for (unsigned seed = 0; seed < tries(3000); ++seed) {
    Random random{seed};
    INFO("seed " << seed);
    const Snapshot snapshot = random_snapshot(random);
    const Config config = random_config(random);
    History history = chance(random, 80) ? long_settled(snapshot) : History{};
    if (chance(random, 10)) history.reload_asked = kNow;
    const Plan result = plan(config, snapshot, history, kNow);
    for (const Action& action : result.actions) {
      CHECK_FALSE(action.reason.empty());
      check_action(config, snapshot, action.operation);
    }
    for (const Finding& found : result.findings) {
      CHECK_FALSE(found.summary.empty());
      CHECK_FALSE(found.remedy.empty());
      CHECK(found.summary.find('{') == std::string::npos);
      CHECK(find_entry(found.id) != nullptr);
    }
    const Health health = assess(config, snapshot, result, history, kNow);
    if (health.state == State::Ready) {
      for (const AdapterHealth& adapter : health.adapters)
        CHECK((adapter.state != State::Ready ||
               adapter.adapter.rdma_device.get()->port.state.is(PortState::Active)));
    }
  }
}

TEST_CASE("a converged machine is left alone", "[property]") {
  for (unsigned seed = 0; seed < tries(500); ++seed) {
    Random random{seed};
    INFO("seed " << seed);
    KernelModel kernel = random_machine(random);
    History history;
    const Run first = run(kernel, {}, history, std::chrono::minutes{10});
    REQUIRE(first.health.state == State::Ready);
    const Run again = run(kernel, {}, history, std::chrono::minutes{10});
    CHECK(again.actions == 0);
    CHECK(again.health.state == State::Ready);
  }
}

TEST_CASE("every machine that can be repaired is, in few actions", "[property]") {
  for (unsigned seed = 0; seed < tries(1000); ++seed) {
    Random random{seed};
    INFO("seed " << seed);
    KernelModel kernel = random_machine(random);
    History history;
    const Config config = chance(random, 50) ? addressed() : Config{};
    const Run result = run(kernel, config, history, std::chrono::minutes{5});
    REQUIRE(result.health.state == State::Ready);
    if (!config.adapters.empty()) CHECK(kernel.adapters.front().addresses.size() == 2);
    // Six modules, and for each adapter at most a bind and a link; one reload for all.
    CHECK(result.actions <= 6 + 2 * kernel.adapters.size() + 1);
    CHECK(kernel.ledger.reloads <= 1);
  }
}

TEST_CASE("jobs are never disturbed, and waiting operations go on when they end", "[property]") {
  for (unsigned seed = 0; seed < tries(500); ++seed) {
    Random random{seed};
    INFO("seed " << seed);
    KernelModel kernel = random_machine(random);
    if (!kernel.loaded(kDriverModule)) continue;
    for (ModelAdapter& adapter : kernel.adapters)
      adapter.held = adapter.bound && chance(random, 60);
    History history;
    static_cast<void>(run(kernel, addressed(), history, std::chrono::minutes{20}));
    CHECK_FALSE(kernel.harmed);
    for (ModelAdapter& adapter : kernel.adapters) adapter.held = false;
    const Run after = run(kernel, addressed(), history, std::chrono::minutes{10});
    CHECK(after.health.state == State::Ready);
  }
}

TEST_CASE("a port that the host holds down costs few reloads, however long it lasts",
          "[property]") {
  for (unsigned seed = 0; seed < tries(60); ++seed) {
    Random random{seed};
    INFO("seed " << seed);
    KernelModel kernel = random_machine(random);
    kernel.adapters.front().host_holds_down = true;
    History history;
    const Run held = run(kernel, {}, history, std::chrono::hours{2});
    CHECK(held.health.state != State::Ready);
    CHECK(finding(held.plan.findings, FindingId::PortDown) != nullptr);
    CHECK(kernel.ledger.reloads <= 4);
    const auto reloads = kernel.ledger.reloads;
    kernel.adapters.front().host_holds_down = false;
    const Run freed = run(kernel, {}, history, std::chrono::minutes{1});
    if (kernel.adapters.front().needs_right_order) continue;
    CHECK(freed.health.state == State::Ready);
    CHECK(kernel.ledger.reloads == reloads);
  }
}
