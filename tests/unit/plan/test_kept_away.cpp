// SPDX-License-Identifier: GPL-2.0-or-later
// Settings that keep the driver from a module or a function: they are named, and nothing is tried.
#include <algorithm>
#include <cerrno>

#include "agent/plan/findings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("modules that modprobe.d blocks are named, and not tried") {
  const std::string how = "it needs ib_core, kept away by \"install ib_core /bin/true\" in x:14";
  Snapshot snapshot = ready_scene();
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  for (const char* name : {"ib_umad", "vmw_pvrdma"}) {
    module(snapshot, name) = unloaded(name);
    module(snapshot, name).blocked = how;
  }
  snapshot.ledger.attempts = {
      attempt(Verb::LoadModule, "vmw_pvrdma", Milliseconds{500}, Outcome::Failed)};
  const Plan plan = plan_settled(snapshot);
  CHECK(plan.actions.empty());
  CHECK_FALSE(plan.next_look);
  REQUIRE(plan.findings.size() == 2);
  CHECK(plan.findings[0].summary == "vmw_pvrdma is kept from being loaded: " + how + ".");
  CHECK(plan.findings[0].severity == Severity::Error);
  CHECK(plan.findings[1].summary == "ib_umad is kept from being loaded: " + how + ".");
  CHECK(plan.findings[1].severity == Severity::Warning);
  CHECK(assess({}, snapshot, plan, long_settled(snapshot), kNow).state == State::Failed);
  // The driver does not wait for a blocked predecessor, and is loaded once the line that blocks it
  // is gone.
  module(snapshot, "vmw_pvrdma").blocked = {};
  snapshot.ledger.attempts.clear();
  CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule vmw_pvrdma"});
}

TEST_CASE("where modprobe.d cannot be read, that is said once a load has failed") {
  const Error hidden{EACCES, "reading", "/etc/modprobe.d/x.conf"};
  Snapshot snapshot = ready_scene();
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  for (const char* name : {"rdma_cm", "vmw_pvrdma"}) {
    module(snapshot, name) = unloaded(name);
    module(snapshot, name).blocked = Field<std::string>::unreadable(hidden);
  }
  const Plan before = plan_settled(snapshot);
  CHECK(described(before) == Steps{"LoadModule rdma_cm"});
  CHECK(before.findings.empty());
  snapshot.ledger.attempts = {
      attempt(Verb::LoadModule, "rdma_cm", Milliseconds{500}, Outcome::Refused),
      attempt(Verb::LoadModule, "vmw_pvrdma", Milliseconds{500}, Outcome::Failed)};
  const Plan after = plan_settled(snapshot);
  for (const char* name : {"rdma_cm", "vmw_pvrdma"})
    CHECK(std::ranges::count(after.findings, findings::block_unknown(name, hidden)) == 1);
}

TEST_CASE("a module that hangs while it is loaded is a finding") {
  Snapshot snapshot = ready_scene();
  const std::string name = GENERATE("rdma_cm", "mlx4_ib");
  module(snapshot, name).init = ModuleInit::Coming;
  History history = long_settled(snapshot);
  history.loading_since[name] = kNow - Milliseconds{60'000};
  SECTION("an error where it is required") {
    const Plan made = pvrdma::plan({}, snapshot, history, kNow);
    const Finding* said = finding(made.findings, FindingId::ModuleRefused);
    REQUIRE(said != nullptr);
    CHECK(said->severity == (name == "rdma_cm" ? Severity::Error : Severity::Warning));
  }
  SECTION("but not where it is being removed") { module(snapshot, name).init = ModuleInit::Going; }
  CHECK(module(snapshot, name).init.is(ModuleInit::Going) ==
        (finding(pvrdma::plan({}, snapshot, history, kNow).findings, FindingId::ModuleRefused) ==
         nullptr));
}

TEST_CASE("a driver that hangs in its load or its removal is a finding after a minute") {
  Snapshot before = ready_scene();
  before.taken_at = kNow - Milliseconds{60'000};
  const auto [init, words] = GENERATE(table<ModuleInit, std::string>(
      {{ModuleInit::Coming, "has been loading"}, {ModuleInit::Going, "has been leaving"}}));
  module(before, kDriverModule).init = init;
  Snapshot now = before;
  now.taken_at = kNow;
  const History history = advance(advance({}, nullptr, before), &before, now);
  const Plan early = plan({}, now, history, kNow - Milliseconds{1});
  CHECK(early.findings.empty());
  CHECK(early.next_look == kNow);
  const Plan made = plan({}, now, history, kNow);
  CHECK(made.actions.empty());
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].id == FindingId::ModuleRefused);
  CHECK(made.findings[0].summary.starts_with("vmw_pvrdma " + words));
  CHECK(assess({}, now, made, history, kNow).state == State::Failed);

  Snapshot live = ready_scene();
  CHECK(plan({}, live, advance(history, &now, live), kNow).findings.empty());
}

TEST_CASE("the load that follows a long removal of the driver has a minute of its own") {
  Snapshot before = ready_scene();
  before.taken_at = kNow - Milliseconds{60'000};
  module(before, kDriverModule).init = ModuleInit::Going;
  Snapshot now = before;
  now.taken_at = kNow - Milliseconds{10'000};
  module(now, kDriverModule).init = ModuleInit::Coming;
  const History history = advance(advance({}, nullptr, before), &before, now);
  const Plan made = plan({}, now, history, kNow);
  CHECK(made.findings.empty());
  CHECK(made.next_look == kNow + Milliseconds{50'000});
}

TEST_CASE("the driver does not wait for a module that hangs in the executor's own load") {
  Snapshot snapshot = ready_scene();
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  module(snapshot, kDriverModule) = unloaded(kDriverModule);
  module(snapshot, "rdma_cm").init = ModuleInit::Coming;
  History history = long_settled(snapshot);
  history.loading_since["rdma_cm"] = kNow - Milliseconds{15'000};
  CHECK(pvrdma::plan({}, snapshot, history, kNow).actions.empty());
  snapshot.ledger.attempts = {
      attempt(Verb::LoadModule, "rdma_cm", Milliseconds{100}, Outcome::Failed)};
  CHECK(described(pvrdma::plan({}, snapshot, history, kNow)) == Steps{"LoadModule vmw_pvrdma"});
}

// While the driver probes, a netdev that vmxnet3 registers can lose the driver's reference to it.
TEST_CASE("the driver waits for vmxnet3, also where the executor's own load hangs") {
  Snapshot snapshot = ready_scene();
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  module(snapshot, kDriverModule) = unloaded(kDriverModule);
  module(snapshot, kNetModule).init = ModuleInit::Coming;
  snapshot.ledger.attempts = {
      attempt(Verb::LoadModule, kNetModule, Milliseconds{100}, Outcome::Failed)};
  History history = long_settled(snapshot);
  history.loading_since[kNetModule] = kNow - Milliseconds{15'000};
  const Plan waiting = plan({}, snapshot, history, kNow);
  CHECK(waiting.actions.empty());
  CHECK(waiting.next_look == kNow + Milliseconds{45'000});
  CHECK(described(plan({}, snapshot, history, kNow + Milliseconds{45'000})) ==
        Steps{"LoadModule vmw_pvrdma"});
}

TEST_CASE("a function that another driver has is named at once, and nothing is tried") {
  Snapshot snapshot = ready_scene(2);
  std::string id = "15ad 0820";
  SECTION("function 1") { adapter(snapshot).driver = std::string{"vfio-pci"}; }
  SECTION("function 0") {
    adapter(snapshot).net_driver = std::string{"vfio-pci"};
    adapter(snapshot).netdev = Field<Netdev>::absent();
    adapter(snapshot).driver = Field<std::string>::absent();
    id = "15ad 07b0";
  }
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  const Plan plan = plan_settled(snapshot);
  CHECK(plan.actions.empty());
  REQUIRE(plan.findings.size() == 1);
  CHECK(plan.findings[0].id == FindingId::OtherDriver);
  // An ID that the driver keeps would bind the function to it again.
  CHECK(has_part(plan.findings[0].remedy,
                 "echo " + id + " >/sys/bus/pci/drivers/vfio-pci/remove_id"));
  CHECK(plan.findings[0].summary.find("is bound to vfio-pci, where v") != std::string::npos);
  const Health health = assess({}, snapshot, plan, long_settled(snapshot), kNow);
  CHECK(health.adapters[0].state == State::Failed);
  CHECK(health.adapters[1].state == State::Ready);
}

// open-vm-tools' network script takes the interface down and up around a suspend: then the address
// that no network manager knows is gone, the port is ACTIVE, and there is no GID.
TEST_CASE("an address that is gone after a resume is reported and set again, without a reload") {
  Snapshot snapshot = ready_scene();
  Config config;
  config.adapters = {
      {{std::nullopt, "0000:00:10.0", std::nullopt}, Manage::Auto, 9000U, {"172.31.1.17/24"}}};
  netdev(snapshot).mtu = 9000;
  netdev(snapshot).mtu_max = 9000U;
  netdev(snapshot).addresses = {{"fe80::1/64"}};
  rdma(snapshot).gids.clear();
  const Plan mended = plan_settled(snapshot, config);
  CHECK(described(mended) == Steps{"ConfigureLink 0000:00:10.1"});
  const auto* link = std::get_if<ConfigureLink>(&mended.actions.front().operation);
  REQUIRE(link != nullptr);
  CHECK(link->addresses == Steps{"172.31.1.17/24"});
  CHECK(assess(config, snapshot, mended, long_settled(snapshot), kNow).state != State::Ready);
  // vmxnet3 closes an interface that it could not activate again: the agent brings it up.
  netdev(snapshot).link_up = false;
  netdev(snapshot).carrier = Field<bool>::absent();
  CHECK(described(plan_settled(snapshot, config)) == Steps{"ConfigureLink 0000:00:10.1"});
  // With the address back, a missing GID is reported.
  netdev(snapshot).link_up = true;
  netdev(snapshot).carrier = true;
  netdev(snapshot).addresses.push_back({"172.31.1.17/24", true});
  const Plan waits = plan_settled(snapshot, config);
  CHECK(waits.actions.empty());
  CHECK(finding(waits.findings, FindingId::GidMissing) != nullptr);
}
