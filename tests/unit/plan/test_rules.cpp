// SPDX-License-Identifier: GPL-2.0-or-later
// Rules 1 to 4: which modules are loaded, functions bound and links brought up, and which not.
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("a ready machine needs nothing") {
  const Plan plan = plan_settled(ready_scene(3));
  CHECK(plan.actions.empty());
  CHECK(plan.findings.empty());
  CHECK_FALSE(plan.next_look);
}

TEST_CASE("a machine without adapter is left alone, whatever is loaded") {
  Snapshot snapshot = ready_scene(0);
  for (Module& module : snapshot.modules) module = unloaded(module.name);
  CHECK(plan_settled(snapshot).actions.empty());
  CHECK(plan_settled(snapshot).findings.empty());
  Config config;
  config.readiness.adapters = 1;
  const Plan plan = plan_settled(snapshot, config);
  CHECK(finding(plan.findings, FindingId::NoAdapter) != nullptr);
  CHECK(assess(config, snapshot, plan, {}, kNow).state == State::Failed);
}

TEST_CASE("an adapter whose vmxnet3 side has no driver is reported") {
  Snapshot snapshot = ready_scene();
  adapter(snapshot).net_driver = Field<std::string>::absent();
  CHECK(finding(plan_settled(snapshot).findings, FindingId::NoVmxnet3Pair) != nullptr);
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow;
  const Plan early = plan({}, snapshot, history, kNow);
  CHECK(finding(early.findings, FindingId::NoVmxnet3Pair) == nullptr);
  CHECK(early.next_look == kNow + kSettle);
}

TEST_CASE("a port that verbs cannot query is reported while the kernel says ACTIVE") {
  Snapshot snapshot = ready_scene();
  Port& port = rdma(snapshot).port;
  port.verbs_state = Field<PortState>::unreadable({2, "opening", "the provider"});
  CHECK(finding(plan_settled(snapshot).findings, FindingId::VerbsUnusable) != nullptr);
  port.state = PortState::Down;
  CHECK(finding(plan_settled(snapshot).findings, FindingId::VerbsUnusable) == nullptr);
}

TEST_CASE("rule 1 and 2: predecessors in their order, the driver only when they are live") {
  Snapshot snapshot = ready_scene();
  for (Module& module : snapshot.modules) module = unloaded(module.name);
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule vmxnet3", "LoadModule mlx4_ib",
                                                   "LoadModule ib_umad", "LoadModule rdma_cm",
                                                   "LoadModule rdma_ucm"});

  unsigned order = 0;
  for (Module& module : snapshot.modules)
    if (module.name != kDriverModule) module = loaded(module.name, order++);
  CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule vmw_pvrdma"});

  SECTION("a predecessor that is still coming is waited for") {
    module(snapshot, "rdma_cm").init = ModuleInit::Coming;
    CHECK(plan_settled(snapshot).actions.empty());
    CHECK_FALSE(driver_is_decided(snapshot, plan_settled(snapshot)));
    History history = long_settled(snapshot);
    history.loading_since = {{"mlx4_ib", kNow - Milliseconds{90'000}},
                             {"rdma_cm", kNow - Milliseconds{59'000}}};
    CHECK(pvrdma::plan({}, snapshot, history, kNow).next_look == kNow + Milliseconds{1000});
    const Plan later = pvrdma::plan({}, snapshot, history, kNow + Milliseconds{1000});
    CHECK(described(later) == Steps{"LoadModule vmw_pvrdma"});
  }
  SECTION("a predecessor that this kernel does not ship is not") {
    module(snapshot, "mlx4_ib") = unloaded("mlx4_ib");
    module(snapshot, "mlx4_ib").shipped = Shipped::Missing;
    CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule vmw_pvrdma"});
  }
  SECTION("a failed predecessor is not waited for, and is tried again later") {
    module(snapshot, "mlx4_ib") = unloaded("mlx4_ib");
    snapshot.ledger.attempts = {
        attempt(Verb::LoadModule, "mlx4_ib", Milliseconds{500}, Outcome::Failed)};
    const Plan plan = plan_settled(snapshot);
    CHECK(described(plan) == Steps{"LoadModule vmw_pvrdma"});
    CHECK(plan.next_look == kNow + Milliseconds{1500});
    CHECK(finding(plan.findings, FindingId::ActionFailed) != nullptr);
  }
  SECTION("a predecessor that was removed after its load is waited for once") {
    module(snapshot, "mlx4_ib") = unloaded("mlx4_ib");
    snapshot.ledger.attempts = {attempt(Verb::LoadModule, "mlx4_ib", Milliseconds{500})};
    const Plan plan = plan_settled(snapshot);
    CHECK(plan.actions.empty());
    CHECK(plan.next_look == kNow + Milliseconds{1500});
    CHECK(described(pvrdma::plan({}, snapshot, long_settled(snapshot), *plan.next_look)) ==
          Steps{"LoadModule mlx4_ib"});
    add(snapshot.ledger, attempt(Verb::LoadModule, "mlx4_ib", Milliseconds{100}));
    CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule vmw_pvrdma"});
  }
  SECTION("a predecessor that the kernel refuses is reported as refused") {
    module(snapshot, "mlx4_ib") = unloaded("mlx4_ib");
    snapshot.ledger.attempts = {
        attempt(Verb::LoadModule, "mlx4_ib", Milliseconds{500}, Outcome::Refused)};
    CHECK(finding(plan_settled(snapshot).findings, FindingId::ModuleRefused) != nullptr);
  }
  SECTION("a driver that is going or unreadable is not loaded") {
    module(snapshot, kDriverModule).init = ModuleInit::Going;
    CHECK(plan_settled(snapshot).actions.empty());
    module(snapshot, kDriverModule).init =
        Field<ModuleInit>::unreadable({13, "reading", "initstate"});
    CHECK(plan_settled(snapshot).actions.empty());
  }
}

TEST_CASE("modules that this kernel does not ship") {
  Snapshot snapshot = ready_scene();
  module(snapshot, "mlx4_ib") = unloaded("mlx4_ib");
  module(snapshot, "mlx4_ib").shipped = Shipped::Missing;
  Plan plan = plan_settled(snapshot);
  REQUIRE(finding(plan.findings, FindingId::ModuleNotShipped) != nullptr);
  CHECK(finding(plan.findings, FindingId::ModuleNotShipped)->severity == Severity::Info);
  CHECK(assess({}, snapshot, plan, {}, kNow).state == State::Ready);

  module(snapshot, "rdma_ucm") = unloaded("rdma_ucm");
  module(snapshot, "rdma_ucm").shipped = Shipped::Missing;
  plan = plan_settled(snapshot);
  CHECK(plan.findings.front().severity == Severity::Error);
  CHECK(assess({}, snapshot, plan, {}, kNow).state == State::Failed);

  Snapshot bare = ready_scene();
  module(bare, kDriverModule) = unloaded(kDriverModule);
  module(bare, kDriverModule).shipped = Shipped::Missing;
  adapter(bare).driver = Field<std::string>::absent();
  adapter(bare).rdma_device = Field<RdmaDevice>::absent();
  plan = plan_settled(bare);
  CHECK(plan.actions.empty());
  CHECK(finding(plan.findings, FindingId::DriverNotShipped) != nullptr);
  CHECK(assess({}, bare, plan, {}, kNow).state == State::Failed);
  CHECK(driver_is_decided(bare, plan));
}

TEST_CASE("rule 3: a function that has just lost its driver may be about to leave") {
  const Snapshot bound = ready_scene(2);
  Snapshot unbound = bound;
  adapter(unbound, 1).driver = Field<std::string>::absent();
  adapter(unbound, 1).rdma_device = Field<RdmaDevice>::absent();
  const History history = advance(long_settled(bound), &bound, unbound);
  const Plan at_once = plan({}, unbound, history, kNow);
  CHECK(at_once.actions.empty());
  CHECK(at_once.next_look == kNow + Milliseconds{1000});
  CHECK(described(plan({}, unbound, history, kNow + Milliseconds{1000})) ==
        Steps{"BindFunction 0000:00:11.1"});
  // An unchanged look does not start the second again.
  Snapshot later = unbound;
  later.taken_at = kNow + Milliseconds{900};
  const History after = advance(history, &unbound, later);
  CHECK(plan({}, later, after, kNow + Milliseconds{1000}).actions.size() == 1);
}

// The kernel removes the link to the driver, and then waits for the job before it removes the RDMA
// device. A bind would wait too, and after a hot-removal it would come before the function goes.
TEST_CASE(
    "rule 3: a function whose release waits for a job is not bound before a second after it") {
  const Snapshot bound = ready_scene(2);
  Snapshot releasing = bound;
  adapter(releasing, 1).driver = Field<std::string>::absent();
  // A device that leaves is not in nldev's list, so its netdev is not known.
  rdma(releasing, 1).netdev = Field<std::string>::unreadable({61, "asking nldev about", "it"});
  module(releasing, kDriverModule).refcount = 1U;
  History history = advance(long_settled(bound), &bound, releasing);
  const Plan at_once = plan({}, releasing, history, kNow);
  CHECK(finding(at_once.findings, FindingId::DriverInUse) == nullptr);
  CHECK(at_once.next_look == kNow + kSettle);
  const BootTime later = kNow + Milliseconds{60'000};
  const Plan waiting = plan({}, releasing, history, later);
  CHECK(waiting.actions.empty());
  const Finding* found = finding(waiting.findings, FindingId::DriverInUse);
  REQUIRE(found != nullptr);
  CHECK(found->adapter == "0000:00:11.1");
  CHECK(found->summary.starts_with("vmw_pvrdma was unbound from 0000:00:11.1"));
  CHECK(found->remedy.find("(deleted)") != std::string::npos);
  CHECK(found->remedy.find("`fuser") == std::string::npos);
  CHECK(finding(waiting.findings, FindingId::Unreadable) == nullptr);
  Snapshot released = releasing;
  adapter(released, 1).rdma_device = Field<RdmaDevice>::absent();
  released.taken_at = later;
  history = advance(history, &releasing, released);
  const Plan free = plan({}, released, history, later);
  CHECK(free.actions.empty());
  CHECK(finding(free.findings, FindingId::DriverInUse) == nullptr);
  CHECK(described(plan({}, released, history, later + Milliseconds{1000})) ==
        Steps{"BindFunction 0000:00:11.1"});
}

TEST_CASE("rule 3: a release that no process can hold up has no finding") {
  Snapshot snapshot = ready_scene(2);
  adapter(snapshot, 1).driver = Field<std::string>::absent();
  Module& driver = module(snapshot, kDriverModule);
  const auto is_found = [&] {
    return finding(plan_settled(snapshot).findings, FindingId::DriverInUse) != nullptr;
  };
  CHECK_FALSE(is_found());
  // The kernel lists a job on the other adapter, but no longer the jobs on this one.
  snapshot.holders = std::vector<Holder>{{7, "job", rdma(snapshot).name}};
  driver.refcount = 2U;
  CHECK(is_found());
  driver.refcount = Field<unsigned>::unreadable({5, "reading", "refcnt"});
  CHECK(is_found());
  driver.init = ModuleInit::BuiltIn;
  driver.refcount = Field<unsigned>::absent();
  CHECK(is_found());
}

TEST_CASE("rule 3: a function without driver is bound once its netdev is there") {
  Snapshot snapshot = ready_scene(2);
  adapter(snapshot, 1).driver = Field<std::string>::absent();
  adapter(snapshot, 1).rdma_device = Field<RdmaDevice>::absent();
  CHECK(described(plan_settled(snapshot)) == Steps{"BindFunction 0000:00:11.1"});

  SECTION("not while the driver is coming") {
    module(snapshot, kDriverModule).init = ModuleInit::Coming;
    CHECK(plan_settled(snapshot).actions.empty());
  }
  SECTION("not without the netdev") {
    adapter(snapshot, 1).netdev = Field<Netdev>::absent();
    adapter(snapshot, 1).net_driver = Field<std::string>::absent();
    CHECK(plan_settled(snapshot).actions.empty());
  }
  SECTION("not where the binding cannot be read") {
    adapter(snapshot, 1).driver = Field<std::string>::unreadable({13, "reading", "driver"});
    CHECK(plan_settled(snapshot).actions.empty());
    CHECK(finding(plan_settled(snapshot).findings, FindingId::Unreadable) != nullptr);
  }
}

TEST_CASE("an initramfs that does not know the present modprobe.d") {
  Snapshot snapshot = ready_scene();
  const auto found = [&] {
    const auto findings = plan_settled(snapshot).findings;
    const Finding* old = finding(findings, FindingId::InitramfsOld);
    return old != nullptr ? old->summary + old->remedy : "";
  };
  CHECK(found().empty());
  snapshot.initramfs = Initramfs{"/boot/initrd.img-6.1.0-test", ""};
  CHECK(found().empty());
  snapshot.initramfs = Field<Initramfs>::unreadable({13, "opening", "/boot"});
  CHECK(plan_settled(snapshot).findings.empty());
  snapshot.initramfs = Initramfs{"/boot/initrd.img-6.1.0-test", "/etc/modprobe.d/mine.conf"};
  for (const char* text :
       {"/boot/initrd.img-6.1.0-test", "/etc/modprobe.d/mine.conf",
        "update-initramfs -u -k 6.1.0-test on Debian and Ubuntu; where that command is missing",
        "/usr/libexec/pvrdma-agent/refresh-initramfs --force"})
    CHECK(found().find(text) != std::string::npos);
  CHECK(plan_settled(snapshot).actions.empty());
  snapshot.adapters = std::vector<Adapter>{};
  CHECK(found().empty());
}
