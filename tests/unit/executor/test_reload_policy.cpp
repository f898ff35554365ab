// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's guard allows every reload that the planner's policy allows on the same facts, and
// neither disturbs a holder.
#include "agent/plan/reload_policy.hpp"

#include <array>

#include "agent/executor/guard.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/random_fields.hpp"
#include "tests/unit/tries.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

Snapshot random_snapshot(Random& random) {
  Snapshot snapshot = ready_scene(static_cast<unsigned>(random() % 4));
  Module& driver = module(snapshot, kDriverModule);
  driver.init = std::array{ModuleInit::Coming, ModuleInit::Going, ModuleInit::Live,
                           ModuleInit::Live, ModuleInit::BuiltIn}[random() % 5];
  if (driver.init.is(ModuleInit::BuiltIn)) driver.refcount = Field<unsigned>::absent();
  if (chance(random, 20)) driver.refcount = static_cast<unsigned>(random() % 3);
  lose(random, driver.init);
  lose(random, driver.refcount);
  for (unsigned i = 0; i < snapshot.adapters.get()->size(); ++i) {
    lose(random, adapter(snapshot, i).driver);
    if (chance(random, 10)) adapter(snapshot, i).netdev = Field<Netdev>::absent();
    if (chance(random, 10)) adapter(snapshot, i).rdma_device = Field<RdmaDevice>::absent();
  }
  if (chance(random, 20)) snapshot.holders = std::vector<Holder>{{7, "job", "rocep0s10f1"}};
  lose(random, snapshot.holders);
  lose(random, snapshot.adapters);
  return snapshot;
}

// The facts that the executor reads where the daemon has this snapshot.
executor::Facts same_facts(const Snapshot& snapshot) {
  executor::Facts facts;
  facts.driver = *snapshot.module(kDriverModule);
  facts.holders = snapshot.holders;
  if (!snapshot.adapters.is_known()) return facts;
  std::vector<executor::AdapterFacts> adapters;
  for (const Adapter& seen : *snapshot.adapters.get()) {
    executor::AdapterFacts one;
    one.pci.function = seen.function;
    one.pci.driver = seen.driver;
    if (const Netdev* netdev = seen.netdev.get()) one.pci.netdev = netdev->name;
    if (const RdmaDevice* rdma = seen.rdma_device.get()) one.pci.rdma_device = rdma->name;
    adapters.push_back(std::move(one));
  }
  facts.adapters = std::move(adapters);
  return facts;
}

}  // namespace

TEST_CASE("the guard allows what the reload policy allows on the same facts") {
  Random random{20};
  unsigned reloads = 0;
  unsigned rebinds = 0;
  for (unsigned i = 0; i < tries(20'000); ++i) {
    const Snapshot snapshot = random_snapshot(random);
    Config config;
    config.modules.reload =
        std::array{ReloadPolicy::Auto, ReloadPolicy::Always, ReloadPolicy::Never}[random() % 3];
    const History history;
    const auto cause = std::array{ReloadCause::Requested, ReloadCause::OncePerBoot,
                                  ReloadCause::PortDown, ReloadCause::NetdevLost}[random() % 4];
    const ReloadVerdict verdict = may_reload({config, snapshot, history, kNow}, cause, "a test");
    if (!verdict.granted) continue;
    const auto refused = executor::refusal(*verdict.granted, config, same_facts(snapshot));
    CAPTURE(i, describe(*verdict.granted), refused ? refused->detail : "");
    CHECK_FALSE(refused);
    REQUIRE(snapshot.holders.is_known());
    CHECK(snapshot.holders.get()->empty());
    ++(std::holds_alternative<ReloadDriver>(*verdict.granted) ? reloads : rebinds);
  }
  CHECK(reloads > 50);
  CHECK(rebinds > 5);
}
