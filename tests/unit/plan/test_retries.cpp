// SPDX-License-Identifier: GPL-2.0-or-later
// Rules 1 to 3: how often something is tried again, and when no longer.
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

// A scene with an unbound function, and the attempts on it as time passes.
struct Unbound {
  Snapshot snapshot = ready_scene();
  History history = long_settled(snapshot);
  BootTime now = kNow;

  Unbound() {
    adapter(snapshot).driver = Field<std::string>::absent();
    adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  }
  Plan next() const { return plan({}, snapshot, history, now); }
  // The times of the attempts, until nothing more is planned; each ends with `outcome`.
  std::vector<Milliseconds> tried(Outcome outcome) {
    std::vector<Milliseconds> times;
    for (Plan next = this->next(); times.size() < 20; next = this->next()) {
      if (next.actions.empty() && !next.next_look) break;
      if (next.actions.empty()) {
        now = *next.next_look;
        continue;
      }
      REQUIRE(described(next) == Steps{"BindFunction 0000:00:10.1"});
      times.push_back(std::chrono::duration_cast<Milliseconds>(now - kNow));
      note(outcome);
    }
    return times;
  }
  void note(Outcome outcome) {
    snapshot.ledger.attempts.push_back(
        {Verb::BindFunction, function_of(0), now, now, outcome, "No such device"});
  }
};

}  // namespace

TEST_CASE("retries have growing pauses and an end, and a change of state resets them") {
  // A success without effect, or undone at once, counts like a failure. But only after a failure
  // the tries go on, slowly: its cause may end without an event, as a lack of memory does.
  for (const Outcome outcome :
       {Outcome::Failed, Outcome::Refused, Outcome::Done, Outcome::AlreadyDone}) {
    INFO(to_string(outcome));
    const bool goes_on = outcome == Outcome::Failed;
    Unbound scene;
    std::vector<Milliseconds> expected{Milliseconds{0}, Milliseconds{2000}, Milliseconds{12'000},
                                       Milliseconds{72'000}, Milliseconds{372'000}};
    while (goes_on && expected.size() < 20)
      expected.push_back(expected.back() + Milliseconds{600'000});
    CHECK(scene.tried(outcome) == expected);
    if (goes_on) CHECK(scene.next().next_look == scene.now + Milliseconds{600'000});
    scene.now += Milliseconds{3'600'000};
    const Plan ended = scene.next();
    CHECK(ended.actions.empty() != goes_on);
    REQUIRE(finding(ended.findings, FindingId::GivingUp) != nullptr);
    CHECK(assess({}, scene.snapshot, ended, scene.history, scene.now).state == State::Failed);
    scene.history.fresh_start = scene.now + Milliseconds{1};
    scene.now += Milliseconds{2};
    CHECK(described(scene.next()) == Steps{"BindFunction 0000:00:10.1"});
    CHECK(finding(scene.next().findings, FindingId::GivingUp) == nullptr);
  }
}

TEST_CASE("what failed for one adapter is not tried again at each change of another") {
  Snapshot snapshot = ready_scene(2);
  SECTION("its link") { netdev(snapshot).link_up = false; }
  SECTION("its bind") {
    adapter(snapshot).driver = Field<std::string>::absent();
    adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  }
  History history = long_settled(snapshot);
  const Plan first = plan({}, snapshot, history, kNow);
  REQUIRE(first.actions.size() == 1);
  const Operation& operation = first.actions.front().operation;
  add(snapshot.ledger,
      attempt(verb(operation), target(operation), Milliseconds{1000}, Outcome::Failed));
  history.adapters[function_of(1)].fresh_start = kNow - Milliseconds{500};
  CHECK(plan({}, snapshot, history, kNow).actions.empty());
  history.adapters[function_of(0)].fresh_start = kNow - Milliseconds{500};
  CHECK(plan({}, snapshot, history, kNow).actions.size() == 1);
}

TEST_CASE("a driver that a reload could not load again is loaded later, as nothing else would") {
  Snapshot snapshot = ready_scene();
  module(snapshot, kDriverModule) = unloaded(kDriverModule);
  adapter(snapshot).driver = Field<std::string>::absent();
  adapter(snapshot).rdma_device = Field<RdmaDevice>::absent();
  const History history = long_settled(snapshot);
  for (const Outcome outcome : {Outcome::Failed, Outcome::Done}) {
    INFO(to_string(outcome));
    snapshot.ledger.attempts.assign(
        5, attempt(Verb::LoadModule, kDriverModule, Milliseconds{0}, outcome));
    const Plan waiting = plan({}, snapshot, history, kNow);
    CHECK(waiting.actions.empty());
    REQUIRE(waiting.next_look.has_value() == (outcome == Outcome::Failed));
    REQUIRE(finding(waiting.findings, FindingId::GivingUp) != nullptr);
    const BootTime later = kNow + Milliseconds{600'000};
    CHECK(described(plan({}, snapshot, history, later)) ==
          (outcome == Outcome::Failed ? Steps{"LoadModule vmw_pvrdma"} : Steps{}));
  }
}

TEST_CASE("a repair that lasted, and is needed again later, costs nothing") {
  Unbound scene;
  SECTION("every hour, or a little longer than a repair needs to count as one") {
    for (const Milliseconds apart : {Milliseconds{3'600'000}, Milliseconds{12'001}})
      for (int i = 0; i < 20; ++i) {
        CHECK(described(scene.next()) == Steps{"BindFunction 0000:00:10.1"});
        scene.note(Outcome::Done);
        scene.now += apart;
      }
  }
  SECTION("after failures that would have ended it, had it not worked in the end") {
    for (int i = 0; i < 4; ++i) scene.note(Outcome::Failed);
    scene.now += Milliseconds{300'000};
    scene.note(Outcome::Done);
    scene.now += Milliseconds{3'600'000};
    CHECK(described(scene.next()) == Steps{"BindFunction 0000:00:10.1"});
  }
  SECTION("after failures that ended it, and a slow try that worked") {
    for (int i = 0; i < 5; ++i) scene.note(Outcome::Failed);
    scene.now += Milliseconds{600'000};
    scene.note(Outcome::Done);
    scene.now += Milliseconds{3'600'000};
    for (int i = 0; i < 4; ++i) {
      scene.now += Milliseconds{60'000};
      CHECK(described(scene.next()) == Steps{"BindFunction 0000:00:10.1"});
      scene.note(Outcome::Failed);
    }
    CHECK(finding(scene.next().findings, FindingId::GivingUp) == nullptr);
  }
  SECTION("every few seconds, each time to an agent that was just started") {
    for (int i = 0; i < 20; ++i) {
      scene.now += Milliseconds{11'000};
      scene.history.started = scene.now;
      CHECK(described(scene.next()) == Steps{"BindFunction 0000:00:10.1"});
      scene.note(Outcome::Done);
    }
  }
}
