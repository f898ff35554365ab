// One pass after the other: what is remembered between them, and what may be acted on.
#include <cerrno>
#include "agent/daemon/reconciler.hpp"

#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

constexpr BootTime kNever{};

Look look_at(Snapshot snapshot, BootTime time) {
  snapshot.taken_at = time;
  return {time - Milliseconds{5}, std::move(snapshot)};
}

}  // namespace

TEST_CASE("nothing is claimed before the first pass") {
  const Reconciler reconciler{{}, kNow};
  CHECK(reconciler.health().state == State::Unknown);
  CHECK_FALSE(reconciler.may_act());
  CHECK_FALSE(reconciler.managers_may_start());
}

TEST_CASE("a state keeps its date until it changes") {
  Reconciler reconciler{{}, kNow};
  reconciler.pass(look_at(ready_scene(), kNow), {}, kNever, kNow);
  CHECK(reconciler.health().state == State::Ready);
  CHECK(reconciler.health().since == kNow);
  reconciler.pass(look_at(ready_scene(), kNow + Milliseconds{1000}), {}, kNever,
                  kNow + Milliseconds{1000});
  CHECK(reconciler.health().since == kNow);
  Snapshot down = ready_scene();
  netdev(down).up = false;
  rdma(down).port.state = std::string{"DOWN"};
  reconciler.pass(look_at(down, kNow + Milliseconds{2000}), {}, kNever, kNow + Milliseconds{2000});
  CHECK(reconciler.health().state == State::Converging);
  CHECK(reconciler.health().since == kNow + Milliseconds{2000});
  CHECK(reconciler.health().adapters.at(0).transitions == 1);
}

TEST_CASE("a look that began before the executor's last answer is not acted on") {
  Snapshot down = ready_scene();
  netdev(down).up = false;
  Reconciler reconciler{{}, kNow};
  reconciler.pass(look_at(down, kNow), {}, kNow, kNow);
  CHECK_FALSE(reconciler.plan().actions.empty());
  CHECK_FALSE(reconciler.may_act());
  reconciler.pass(look_at(down, kNow + Milliseconds{10}), {}, kNow, kNow + Milliseconds{10});
  CHECK(reconciler.may_act());
  reconciler.again({}, kNow + Milliseconds{20});
  CHECK_FALSE(reconciler.may_act());
}

TEST_CASE("a bad configuration is a finding, and the good one stays in force") {
  Config never;
  never.modules.reload = ReloadPolicy::Never;
  Reconciler reconciler{{never, {}, {}, {}}, kNow};
  reconciler.pass(look_at(ready_scene(), kNow), {}, kNever, kNow);
  reconciler.reject_config("/etc/x.toml:1: bad");
  reconciler.again({}, kNow);
  REQUIRE(finding(reconciler.health().findings, FindingId::ConfigBad) != nullptr);
  CHECK(
      finding(reconciler.health().findings, FindingId::ConfigBad)->summary.find("/etc/x.toml:1") !=
      std::string::npos);
  CHECK(reconciler.health().state == State::Degraded);
  CHECK(reconciler.config().modules.reload == ReloadPolicy::Never);
  reconciler.use({}, {});
  reconciler.again({}, kNow);
  CHECK(reconciler.health().state == State::Ready);
}

TEST_CASE("a configuration that was bad from the beginning is read again by itself") {
  Config safe;
  safe.modules.reload = ReloadPolicy::Never;
  Reconciler reconciler{{safe, {}, {}, "/etc/x.toml:1: bad"}, kNow};
  const Look look = look_at(ready_scene(), kNow);
  CHECK(reconciler.config_may_be_old(look.snapshot));
  reconciler.pass(look, {}, kNever, kNow);
  const Finding* bad = finding(reconciler.health().findings, FindingId::ConfigBad);
  REQUIRE(bad != nullptr);
  CHECK(bad->summary.find("only what harms in no case") != std::string::npos);
  CHECK(bad->summary.find("/etc/x.toml:1") != std::string::npos);
  CHECK(reconciler.health().state == State::Degraded);
  CHECK(reconciler.managers_may_start());
  REQUIRE(reconciler.plan().next_look);
  CHECK(*reconciler.plan().next_look <= kNow + Milliseconds{30'000});
  CHECK(reconciler.config_may_be_old(look.snapshot));
  CHECK(reconciler.rejects("/etc/x.toml:1: bad"));
  CHECK_FALSE(reconciler.uses(safe, {}));
  reconciler.use({}, {});
  reconciler.pass(look, {}, kNever, kNow);
  CHECK_FALSE(reconciler.config_may_be_old(look.snapshot));
  CHECK(reconciler.health().state == State::Ready);
}

TEST_CASE("a part of the configuration that is left out is a finding until all of it counts") {
  Reconciler reconciler{{{}, {}, "guestinfo.pvrdma-agent.config:3: bad", {}}, kNow};
  reconciler.pass(look_at(ready_scene(), kNow), {}, kNever, kNow);
  REQUIRE(finding(reconciler.health().findings, FindingId::ConfigBad) != nullptr);
  CHECK(
      finding(reconciler.health().findings, FindingId::ConfigBad)->summary.find("config:3: bad") !=
      std::string::npos);
  CHECK_FALSE(reconciler.uses({}, {}));
  reconciler.use({}, {});
  CHECK(reconciler.uses({}, {}));
  reconciler.again({}, kNow);
  CHECK(finding(reconciler.health().findings, FindingId::ConfigBad) == nullptr);
}

TEST_CASE("the configuration may be old at the first look, and when the customization has ended") {
  Reconciler reconciler{{}, kNow};
  Snapshot custom = ready_scene();
  custom.customization = std::string{"cloud-init's local stage"};
  CHECK(reconciler.config_may_be_old(ready_scene()));
  CHECK_FALSE(reconciler.config_may_be_old(custom));
  reconciler.pass(look_at(custom, kNow), {}, kNever, kNow);
  CHECK_FALSE(reconciler.config_may_be_old(custom));
  CHECK(reconciler.config_may_be_old(ready_scene()));
  reconciler.pass(look_at(ready_scene(), kNow), {}, kNever, kNow);
  CHECK_FALSE(reconciler.config_may_be_old(ready_scene()));
}

TEST_CASE("a configuration known to be bad is said once, and not again by each refusal") {
  Snapshot down = ready_scene();
  netdev(down).up = false;
  add(down.ledger,
      attempt(Verb::ConfigureLink, function_of(0), Milliseconds{100}, Outcome::NotAllowed));
  Reconciler reconciler{{}, kNow};
  reconciler.pass(look_at(down, kNow), {}, kNever, kNow);
  CHECK(finding(reconciler.health().findings, FindingId::ActionRefused) != nullptr);
  reconciler.reject_config("/etc/x.toml:1: bad");
  reconciler.again({}, kNow);
  CHECK(finding(reconciler.health().findings, FindingId::ActionRefused) == nullptr);
  CHECK(finding(reconciler.health().findings, FindingId::ConfigBad) != nullptr);
}

TEST_CASE("a removed adapter is acknowledged by any name it had, or with all others") {
  Snapshot two = ready_scene(2);
  for (unsigned i = 0; i < 2; ++i) netdev(two, i).permanent_mac = netdev(two, i).mac;
  Reconciler reconciler{{}, kNow};
  reconciler.pass(look_at(two, kNow), {}, kNever, kNow);
  reconciler.pass(look_at(ready_scene(0), kNow), {}, kNever, kNow);
  CHECK(reconciler.health().state == State::Degraded);
  CHECK_FALSE(reconciler.acknowledge_removed("eth7"));
  CHECK(reconciler.acknowledge_removed(netdev(two, 0).name));
  CHECK_FALSE(reconciler.acknowledge_removed(function_of(0)));
  CHECK(reconciler.acknowledge_removed(netdev(two, 1).mac));
  CHECK_FALSE(reconciler.acknowledge_removed(std::nullopt));
  reconciler.again({}, kNow);
  CHECK(reconciler.health().state == State::Absent);
}

TEST_CASE("a boot begins with the start of the agent, and each pass adds its steps") {
  Reconciler reconciler{{}, kNow};
  const BootTime later = kNow + Milliseconds{5000};
  reconciler.pass(look_at(ready_scene(), later), {}, kNever, later);
  CHECK(reconciler.boot().find(StepKind::AgentStarted)->at == kNow);
  CHECK(reconciler.boot().find(StepKind::Ready)->at == later);
}

TEST_CASE("a call that is stuck is an error with a name") {
  Reconciler reconciler{{}, kNow};
  const BusyCall call{Verb::LoadModule, "mlx4_ib", kNow, true};
  reconciler.pass(look_at(ready_scene(), kNow), call, kNever, kNow);
  CHECK(reconciler.health().busy == call);
  REQUIRE(finding(reconciler.health().findings, FindingId::ExecutorStuck) != nullptr);
}

TEST_CASE("an executor that cannot be asked is an error where there is something to do") {
  Reconciler reconciler{{}, kNow};
  const Error why{ENOENT, "connecting to", "/run/executor"};
  Snapshot down = ready_scene();
  netdev(down).up = false;
  rdma(down).port.state = std::string{"DOWN"};
  reconciler.executor_missing(why);
  reconciler.pass(look_at(ready_scene(), kNow), {}, kNever, kNow);
  CHECK(finding(reconciler.health().findings, FindingId::ExecutorMissing) == nullptr);
  CHECK(reconciler.health().state == State::Ready);
  // A link that was taken down is left for a second.
  reconciler.pass(look_at(down, kNow), {}, kNever, kNow + Milliseconds{1000});
  REQUIRE_FALSE(reconciler.plan().actions.empty());
  const Finding* found = finding(reconciler.health().findings, FindingId::ExecutorMissing);
  REQUIRE(found != nullptr);
  CHECK(found->summary.find("/run/executor: No such file") != std::string::npos);
  CHECK(reconciler.health().state == State::Failed);
  reconciler.executor_missing(std::nullopt);
  reconciler.again({}, kNow);
  CHECK(finding(reconciler.health().findings, FindingId::ExecutorMissing) == nullptr);
}

TEST_CASE("looks are frequent while something may follow, and become rare where nothing does") {
  Reconciler reconciler{{}, kNow};
  reconciler.pass(look_at(ready_scene(0), kNow), {}, kNever, kNow);
  CHECK(reconciler.pace() == Pace{Milliseconds{30'000}, Milliseconds{30'000}});
  const auto pace_of = [&](const Snapshot& seen, std::optional<BusyCall> busy = std::nullopt) {
    reconciler.pass(look_at(seen, kNow), busy, kNever, kNow);
    return reconciler.pace();
  };
  const Pace often{Milliseconds{2000}, Milliseconds{2000}};
  const Pace rarely{Milliseconds{30'000}, Milliseconds{30'000}};
  const Pace ever_rarer{Milliseconds{2000}, Milliseconds{30'000}};
  CHECK(pace_of(ready_scene()) == rarely);
  Snapshot failed = ready_scene();
  module(failed, kDriverModule) = unloaded(kDriverModule);
  CHECK(pace_of(failed) == often);  // it is to be loaded
  module(failed, kDriverModule).shipped = Shipped::Missing;
  adapter(failed).driver = Field<std::string>::absent();
  adapter(failed).rdma = Field<RdmaDevice>::absent();
  CHECK(pace_of(failed) == ever_rarer);
  CHECK(reconciler.health().state == State::Failed);
  CHECK(pace_of(failed, BusyCall{Verb::LoadModule, "ib_umad", kNow, false}) == often);
  Snapshot degraded = ready_scene();
  rdma(degraded).port.verbs_state = Field<std::string>::unreadable({2, "opening", "the provider"});
  CHECK(pace_of(degraded) == ever_rarer);
  CHECK(reconciler.health().state == State::Degraded);
}
