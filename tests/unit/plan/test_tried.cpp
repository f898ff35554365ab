// SPDX-License-Identifier: GPL-2.0-or-later
// The executor's ledger compared with its answers: attempts that the ledger has lost still count.
#include "agent/plan/step.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const ConfigureLink kUp{"0000:00:10.1", "ens10", {}, {}};

// Asked and answered within the same 20 ms.
Attempt answered_call(const Operation& operation, Milliseconds ago,
                      Outcome outcome = Outcome::Done) {
  return {verb(operation), target(operation), kNow - ago, kNow - ago + Milliseconds{20},
          outcome,         "because"};
}

Looked look_at(Snapshot snapshot, Milliseconds ago = Milliseconds{100}) {
  return {kNow - ago, std::move(snapshot)};
}

Snapshot lost_port() {
  Snapshot snapshot = ready_scene();
  rdma(snapshot).port.state = PortState::Down;
  return snapshot;
}

}  // namespace

TEST_CASE("a ledger that has all answers is left unchanged") {
  Ledger answered;
  add(answered, answered_call(kUp, Milliseconds{5000}));
  add(answered, answered_call(ReloadDriver{}, Milliseconds{4000}, Outcome::InUse));
  Looked look = look_at(ready_scene());
  for (const auto& list : {answered.attempts, answered.refusals})
    for (Attempt entry : list) {
      entry.started += Milliseconds{3};  // the executor's own time, between the two
      add(look.snapshot.ledger, entry);
    }
  SECTION("each answer") {}
  SECTION("with a later refusal in place of an equal one") {
    look.snapshot.ledger.refusals[0].started += Milliseconds{3000};
  }
  const Ledger before = look.snapshot.ledger;
  complete_ledger(look, {answered, {}});
  CHECK(look.snapshot.ledger == before);
  CHECK_FALSE(look.snapshot.ledger_error);
}

TEST_CASE(
    "attempts that a ledger has lost count, and nothing that disturbs is planned for a minute") {
  Ledger answered;
  add(answered, answered_call(kUp, Milliseconds{30'000}));
  answered.reloads = 2;
  Looked look = look_at(lost_port());
  add(look.snapshot.ledger, attempt(Verb::ConfigureLink, function_of(0), Milliseconds{90'000}));
  complete_ledger(look, {answered, {}});
  REQUIRE(look.snapshot.ledger.attempts.size() == 2);
  CHECK(look.snapshot.ledger.attempts[1] == answered.attempts[0]);
  CHECK(look.snapshot.ledger.reloads == 2);
  REQUIRE(look.snapshot.ledger_error);
  CHECK(look.snapshot.ledger_error->message() ==
        "looking in the executor's ledger for ConfigureLink 0000:00:10.1, which is not there "
        "(because)");
  CHECK(plan_settled(look.snapshot).actions.empty());
}

TEST_CASE(
    "budgets survive a ledger that is lost: after its minute the next try is due, no earlier one") {
  Ledger answered;
  add(answered, answered_call(ReloadDriver{}, Milliseconds{61'000}));
  Looked look = look_at(lost_port());
  complete_ledger(look, {answered, {}});
  CHECK_FALSE(look.snapshot.ledger_error);
  CHECK(described(plan_settled(look.snapshot)) == Steps{"ReloadDriver vmw_pvrdma"});
  add(answered, answered_call(ReloadDriver{}, Milliseconds{62'000}));
  look = look_at(lost_port());
  complete_ledger(look, {answered, {}});
  CHECK(plan_settled(look.snapshot).actions.empty());  // the longest pause is before the third
  add(answered, answered_call(ReloadDriver{}, Milliseconds{63'000}));
  look = look_at(lost_port());
  complete_ledger(look, {answered, {}});
  const Plan result = plan_settled(look.snapshot);
  CHECK(result.actions.empty());
  CHECK(finding(result.findings, FindingId::GivingUp) != nullptr);
}

TEST_CASE("calls that the executor could not read count, and are not expected in its ledger") {
  Ledger not_understood;
  add(not_understood, answered_call(kUp, Milliseconds{1000}, Outcome::Failed));
  Snapshot snapshot = ready_scene();
  netdev(snapshot).link_up = false;
  Looked look = look_at(snapshot);
  complete_ledger(look, {{}, not_understood});
  CHECK_FALSE(look.snapshot.ledger_error);
  CHECK(look.snapshot.ledger.attempts == not_understood.attempts);
  const Plan plan = plan_settled(look.snapshot);
  CHECK(plan.actions.empty());
  CHECK(finding(plan.findings, FindingId::ActionFailed) != nullptr);
}

TEST_CASE("an answer that came after the ledger was read counts, and is no error") {
  Ledger answered;
  add(answered, answered_call(kUp, Milliseconds{50}));
  Looked look = look_at(ready_scene());
  complete_ledger(look, {answered, {}});
  CHECK(look.snapshot.ledger.attempts == answered.attempts);
  CHECK_FALSE(look.snapshot.ledger_error);
}

TEST_CASE("a ledger that cannot be read keeps its own error, and known attempts count") {
  Ledger answered;
  add(answered, answered_call(kUp, Milliseconds{5000}));
  Looked look = look_at(ready_scene());
  const Error denied{13, "opening", "/run/x"};
  look.snapshot.ledger_error = denied;
  complete_ledger(look, {answered, {}});
  CHECK(look.snapshot.ledger_error == denied);
  CHECK(look.snapshot.ledger.attempts == answered.attempts);
}
