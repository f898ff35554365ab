// SPDX-License-Identifier: GPL-2.0-or-later
// Operations that the executor refuses and the agent still wants: the finding has the executor's
// own words, once, and nothing waits without need.
#include <cerrno>

#include "agent/model/attempt.hpp"
#include "agent/plan/reload_policy.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

Attempt refused(Verb verb, std::string target, Milliseconds ago = Milliseconds{1000}) {
  Attempt refusal = attempt(verb, std::move(target), ago, Outcome::NotAllowed);
  refusal.detail = "MTU 9000 is not what the configuration says for this adapter";
  return refusal;
}

Snapshot link_due() {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).link_up = false;
  return snapshot;
}

Snapshot reload_due() {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).port.state = PortState::Down;
  return snapshot;
}

const Finding* refusal_in(const Plan& plan) {
  return finding(plan.findings, FindingId::ActionRefused);
}

bool says_so(const Snapshot& snapshot) { return refusal_in(plan_settled(snapshot)) != nullptr; }

}  // namespace

TEST_CASE(
    "a refusal of the executor is reported in its own words, and the operation is asked for "
    "again") {
  Snapshot snapshot = link_due();
  add(snapshot.ledger, refused(Verb::ConfigureLink, function_of(0)));
  Plan waiting = plan_settled(snapshot);
  CHECK(waiting.actions.empty());
  CHECK(waiting.next_look == kNow + Milliseconds{4000});
  REQUIRE(refusal_in(waiting) != nullptr);
  CHECK(refusal_in(waiting)->adapter == function_of(0));
  CHECK(refusal_in(waiting)->severity == Severity::Warning);
  CHECK(refusal_in(waiting)->summary ==
        "The executor refuses ConfigureLink 0000:00:10.1: MTU 9000 is not what the configuration "
        "says for this adapter.");
  CHECK(refusal_in(waiting)->remedy.find("systemctl reload pvrdma-agent") != std::string::npos);
  // The finding stays during the next request.
  const Plan again = plan({}, snapshot, long_settled(snapshot), kNow + Milliseconds{4000});
  CHECK(described(again) == Steps{"ConfigureLink 0000:00:10.1"});
  CHECK(refusal_in(again) != nullptr);
  CHECK(again.findings == waiting.findings);
}

TEST_CASE("an operation that is refused again and again is asked for after growing pauses") {
  // As many as vSphere gives a VM; the others are refused at the same times.
  constexpr unsigned kAdapters = 10;
  Snapshot snapshot = link_due();
  History history = long_settled(snapshot);
  std::vector<Milliseconds> asked;
  const auto ask_until = [&](BootTime from, BootTime until) {
    asked.clear();
    for (BootTime now = from; now < until;) {
      const Plan plan = pvrdma::plan({}, snapshot, history, now);
      if (plan.actions.empty()) {
        CHECK(refusal_in(plan) != nullptr);
        REQUIRE(plan.next_look);
        REQUIRE(*plan.next_look > now);
        now = *plan.next_look;
        continue;
      }
      asked.push_back(now - from);
      for (unsigned adapter = 0; adapter < kAdapters; ++adapter)
        add(snapshot.ledger, refused(Verb::ConfigureLink, function_of(adapter), kNow - now));
    }
  };
  const BootTime later = kNow + std::chrono::hours{1};
  ask_until(kNow, later);
  REQUIRE(asked.size() > 9);
  CHECK(asked.size() < 20);
  CHECK(asked[1] == Milliseconds{5000});
  CHECK(asked[2] == Milliseconds{15'000});
  CHECK(asked.back() - asked[asked.size() - 2] == std::chrono::minutes{10});
  CHECK(asked.back() + std::chrono::minutes{10} >= std::chrono::hours{1});
  SECTION("after a fresh start it is asked for at once, and soon again") {
    history.fresh_start = later;
  }
  SECTION("after it was allowed, too") {
    const BootTime before = later - std::chrono::minutes{1};
    add(snapshot.ledger, {Verb::ConfigureLink, function_of(0), before, before, Outcome::Done, ""});
    history.started = later;
  }
  ask_until(later, later + Milliseconds{10'000});
  CHECK(asked == std::vector<Milliseconds>{Milliseconds{0}, Milliseconds{5000}});
}

TEST_CASE("a refusal is gone with its reason") {
  Snapshot snapshot = link_due();
  add(snapshot.ledger, refused(Verb::ConfigureLink, function_of(0)));
  REQUIRE(says_so(snapshot));
  SECTION("done") {
    add(snapshot.ledger, attempt(Verb::ConfigureLink, function_of(0), Milliseconds{500}));
  }
  SECTION("tried, though in vain") {
    add(snapshot.ledger,
        attempt(Verb::ConfigureLink, function_of(0), Milliseconds{500}, Outcome::Failed));
  }
  SECTION("begun again") {
    Attempt begun = attempt(Verb::ConfigureLink, function_of(0), Milliseconds{500});
    begun.finished.reset();
    add(snapshot.ledger, begun);
  }
  SECTION("not wanted any more") { netdev(snapshot).link_up = true; }
  SECTION("held since then: another reason") {
    add(snapshot.ledger,
        attempt(Verb::ConfigureLink, function_of(0), Milliseconds{500}, Outcome::InUse));
  }
  SECTION("not asked for again for long, because it was not wanted") {
    snapshot.ledger.refusals = {
        refused(Verb::ConfigureLink, function_of(0), std::chrono::hours{1})};
  }
  SECTION("of another verb or target") {
    snapshot.ledger.refusals = {refused(Verb::BindFunction, function_of(0)),
                                refused(Verb::ConfigureLink, function_of(1))};
  }
  CHECK_FALSE(says_so(snapshot));
}

TEST_CASE("a refusal before a fresh start does not count: the operation is asked for at once") {
  Snapshot snapshot = link_due();
  add(snapshot.ledger, refused(Verb::ConfigureLink, function_of(0)));
  History history = long_settled(snapshot);
  history.fresh_start = kNow - Milliseconds{500};
  const Plan plan = pvrdma::plan({}, snapshot, history, kNow);
  CHECK(plan.actions.size() == 1);
  CHECK(refusal_in(plan) == nullptr);
}

TEST_CASE("a refused predecessor delays the driver no longer than a failed one, and comes last") {
  Snapshot snapshot = ready_scene();
  for (const char* name : {"mlx4_ib", kDriverModule}) module(snapshot, name) = unloaded(name);
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  CHECK(described(plan_settled(snapshot)) == Steps{"LoadModule mlx4_ib"});
  add(snapshot.ledger, refused(Verb::LoadModule, "mlx4_ib"));
  Plan plan = plan_settled(snapshot);
  CHECK(described(plan) == Steps{"LoadModule vmw_pvrdma"});
  CHECK(refusal_in(plan) != nullptr);
  SECTION("both due: in their order") {
    plan = pvrdma::plan({}, snapshot, long_settled(snapshot), kNow + Milliseconds{4000});
    CHECK(described(plan) == Steps{"LoadModule mlx4_ib", "LoadModule vmw_pvrdma"});
  }
  SECTION("after a fresh start it is asked for before the driver") {
    History history = long_settled(snapshot);
    history.fresh_start = kNow - Milliseconds{500};
    plan = pvrdma::plan({}, snapshot, history, kNow);
    CHECK(described(plan) == Steps{"LoadModule mlx4_ib"});
  }
  SECTION("while it is under way it is waited for") {
    Attempt begun = attempt(Verb::LoadModule, "mlx4_ib", Milliseconds{500});
    begun.finished.reset();
    add(snapshot.ledger, begun);
    CHECK(plan_settled(snapshot).actions.empty());
  }
}

TEST_CASE("a reload that the executor refuses is reported while it is due") {
  Snapshot snapshot = reload_due();
  add(snapshot.ledger, refused(Verb::ReloadDriver, kDriverModule));
  const Plan waiting = plan_settled(snapshot);
  CHECK(waiting.actions.empty());
  REQUIRE(refusal_in(waiting) != nullptr);
  CHECK_FALSE(refusal_in(waiting)->adapter);
  const Plan again = plan({}, snapshot, long_settled(snapshot), kNow + Milliseconds{4000});
  CHECK(described(again) == Steps{"ReloadDriver vmw_pvrdma"});
  CHECK(refusal_in(again) != nullptr);

  SECTION("not where none is due") {
    rdma(snapshot).port.state = PortState::Active;
    CHECK_FALSE(says_so(snapshot));
  }
  SECTION("not where it has been done too often, as the agent itself counts it") {
    for (unsigned i = 0; i < kMostReloads; ++i)
      add(snapshot.ledger, attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{200'000}));
    CHECK_FALSE(says_so(snapshot));
  }
  SECTION("not where it could not be counted, which has its own finding") {
    snapshot.ledger_error = Error{28, "writing", "the ledger"};
    CHECK_FALSE(says_so(snapshot));
  }
  SECTION("not where the agent itself has a reason against it") {
    const BootTime later = kNow + Milliseconds{4000};
    Config never;
    never.modules.reload = ReloadPolicy::Never;
    Plan plan = pvrdma::plan(never, snapshot, long_settled(snapshot), later);
    CHECK(finding(plan.findings, FindingId::ReloadForbidden) != nullptr);
    CHECK(refusal_in(plan) == nullptr);
    module(snapshot, kDriverModule).refcount = 1U;
    plan = pvrdma::plan({}, snapshot, long_settled(snapshot), later);
    CHECK(finding(plan.findings, FindingId::DriverInUse) != nullptr);
    CHECK(refusal_in(plan) == nullptr);
  }
  SECTION("an administrator's request is still made") {
    History history = long_settled(snapshot);
    history.reload_asked = kNow;
    const Plan asked = pvrdma::plan({}, snapshot, history, kNow);
    CHECK(described(asked) == Steps{"ReloadDriver vmw_pvrdma"});
    CHECK_FALSE(requested_reload({Config{}, snapshot, history, kNow}).refusal);
  }
}

TEST_CASE("no reload takes an RDMA device out of another network namespace") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 1).port.state = PortState::Down;
  SECTION("with its interface") { adapter(snapshot).netdev = Field<Netdev>::absent(); }
  SECTION("alone") {}
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  const Plan kept = plan_settled(snapshot);
  CHECK(kept.actions.empty());
  REQUIRE(finding(kept.findings, FindingId::HoldersUnknown) != nullptr);
  CHECK(finding(kept.findings, FindingId::HoldersUnknown)->summary.find("0000:00:10.1") !=
        std::string::npos);
  History history = long_settled(snapshot);
  history.reload_asked = kNow;
  CHECK(plan({}, snapshot, history, kNow).actions.empty());
}

TEST_CASE("operations gentler than a reload do not wait for a script") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).link_up = false;
  snapshot.boot_scripts = {{"/etc/rc.local", false}};
  CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink 0000:00:10.1"});
}

TEST_CASE("a reload that is being carried out is not asked for again, and not refused") {
  Snapshot snapshot = ready_scene();
  module(snapshot, kDriverModule).refcount = 1U;  // as while udev or the load itself uses it
  History history = long_settled(snapshot);
  history.reload_asked = kNow;
  REQUIRE(finding(plan({}, snapshot, history, kNow).findings, FindingId::DriverInUse) != nullptr);
  history.busy = CallUnderWay{ReloadDriver{}, kNow, false};
  const Plan made = plan({}, snapshot, history, kNow);
  CHECK(made.actions.empty());
  CHECK(made.findings.empty());
  CHECK(assess({}, snapshot, made, history, kNow).state == State::Converging);
}

TEST_CASE(
    "a reload that could not be begun is reported with its reason, and given up after three "
    "tries") {
  Snapshot snapshot = reload_due();
  Attempt last = attempt(Verb::ReloadDriver, kDriverModule, Milliseconds{31'000}, Outcome::Refused);
  last.detail = "not removed, as it could not be inserted again: it has no signature";
  add(snapshot.ledger, last);
  const auto said = [&] {
    const Plan made = plan_settled(snapshot);
    const Finding* failed = finding(made.findings, FindingId::ActionFailed);
    return failed != nullptr &&
           failed->summary.find("could not be inserted again") != std::string::npos;
  };
  CHECK(said());
  CHECK(described(plan_settled(snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});
  for (int tries = 0; tries < 2; ++tries) add(snapshot.ledger, last);
  CHECK(said());
  CHECK(plan_settled(snapshot).actions.empty());
  CHECK(finding(plan_settled(snapshot).findings, FindingId::GivingUp) != nullptr);
}

TEST_CASE("a device that does not answer in time is the host's fault, not a library's") {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).port.verbs_state =
      Field<PortState>::unreadable({ETIMEDOUT, "querying port 1 of", "rocep0s16f1"});
  const Plan made = plan_settled(snapshot);
  REQUIRE(finding(made.findings, FindingId::VerbsUnusable) != nullptr);
  CHECK(finding(made.findings, FindingId::VerbsUnusable)->actor == Actor::Host);
}

TEST_CASE("port-query that could not be started says nothing of the libraries") {
  Snapshot snapshot = ready_scene();
  for (const int shortage : {ENOMEM, EMFILE, ENFILE, EAGAIN}) {
    rdma(snapshot).port.verbs_state =
        Field<PortState>::unreadable({shortage, "starting", "port-query"});
    const Plan plan = plan_settled(snapshot);
    CHECK(finding(plan.findings, FindingId::VerbsUnusable) == nullptr);
    CHECK(finding(plan.findings, FindingId::Unreadable) != nullptr);
  }
}
