// SPDX-License-Identifier: GPL-2.0-or-later
// step(): the calls of the executor, their order, and the reaction where it does not answer.
#include "tests/unit/plan/stepped_agent.hpp"

using namespace pvrdma;
using namespace pvrdma::test;
using namespace std::chrono_literals;

namespace {

const LoadModule kUmad{"ib_umad"};
const LoadModule kCm{"rdma_cm"};
const ConfigureLink kLink{function_of(0), "ens10", {}, {}};
const Error kMissing{ENOENT, "connecting to", "/run/executor"};

// An agent whose first call is under way.
Agent asking(const Snapshot& seen, TimeLimits limits = {}) {
  Agent agent{{}, {}, limits};
  agent.now = kNow;
  agent.look(seen);
  return agent;
}

}  // namespace

TEST_CASE("step: actions go out one by one, in order, and health names the one under way") {
  Agent agent = asking(two_not_loaded());
  CHECK(agent.call() == "LoadModule ib_umad");
  CHECK(agent.state.health.busy == CallUnderWay{LoadModule{"ib_umad"}, kNow, false});
  CHECK(agent.effects.concluded);
  agent.now += 20ms;
  agent.answers(kUmad);
  CHECK(agent.call() == "LoadModule rdma_cm");
  CHECK(describe(agent.state.health.busy->operation) == "LoadModule rdma_cm");
  CHECK_FALSE(agent.effects.look);
  agent.now += 20ms;
  agent.answers(kCm);
  // No action is left, and only the next look tells the result.
  CHECK(agent.call().empty());
  CHECK(agent.effects.look);
  CHECK_FALSE(health_at(agent.state, agent.now).busy);
  CHECK(agent.state.last_answer == agent.now);
}

TEST_CASE("step: answers are remembered, with their times") {
  Agent agent = asking(link_down());
  REQUIRE(agent.call() == "ConfigureLink " + function_of(0));
  agent.now += 20ms;
  agent.answers(kLink);
  const Ledger& answered = agent.state.tried.answered;
  REQUIRE(answered.attempts.size() == 1);
  CHECK(answered.attempts[0] ==
        Attempt{Verb::ConfigureLink, function_of(0), kNow, kNow + 20ms, Outcome::Done, ""});
  agent.on(CallEnded{ReloadDriver{}, OperationResult{Outcome::Done, "", 0, {}}});
  agent.on(CallEnded{RebindFunction{function_of(0)}, OperationResult{Outcome::Done, "", 0, {}}});
  CHECK(answered.reloads == 1);
  CHECK(answered.rebinds == 1);
  agent.answers(ReloadDriver{}, Outcome::InUse);
  CHECK(answered.attempts.size() == 3);
  CHECK(answered.refusals.size() == 1);
  CHECK(answered.reloads == 1);
  // A call that did not reach the executor is not remembered; one that it did not understand is
  // kept apart.
  agent.state.patient_until.reset();
  agent.on(ExecutorUnreachable{ReloadDriver{}, kMissing});
  agent.on(CallEnded{kLink, fail(0, "the executor answered", "InvalidParameter")});
  CHECK(answered.attempts.size() == 3);
  REQUIRE(agent.state.tried.not_understood.attempts.size() == 1);
  CHECK(agent.state.tried.not_understood.attempts[0].outcome == Outcome::Failed);
  CHECK(agent.state.tried.not_understood.attempts[0].detail ==
        "the executor answered InvalidParameter");
}

TEST_CASE("step: after a failure no dependent action is tried; modules are independent") {
  Snapshot both = link_down(2);
  netdev(both, 1).link_up = false;
  Agent agent = asking(both);
  agent.answers(kLink, Outcome::Failed);
  CHECK(agent.calls.size() == 1);
  CHECK(agent.effects.look);
  Agent modules = asking(two_not_loaded());
  modules.answers(kUmad, Outcome::Failed);
  CHECK(modules.call() == "LoadModule rdma_cm");
}

TEST_CASE("step: an action that the newest plan no longer has is not carried out") {
  Agent agent = asking(two_not_loaded());
  agent.look(ready_scene());
  CHECK(agent.call().empty());
  agent.answers(kUmad);
  CHECK(agent.calls == Texts{"LoadModule ib_umad"});
}

TEST_CASE("step: a call that hangs is called stuck after its bound, and stays the only one") {
  Agent agent = asking(two_not_loaded());
  agent.wait(19'999ms);
  CHECK_FALSE(agent.state.history.busy->stuck);
  agent.wait(1ms);
  CHECK(agent.state.history.busy->stuck);
  CHECK(agent.has(FindingId::ExecutorStuck));
  CHECK(agent.effects.concluded);
  agent.look(two_not_loaded());
  CHECK(agent.calls.size() == 1);
  // When the call returns, the other actions follow.
  agent.answers(kUmad);
  CHECK(agent.call() == "LoadModule rdma_cm");
  CHECK_FALSE(agent.has(FindingId::ExecutorStuck));
}

TEST_CASE("step: a call during which the machine was suspended has its bound after that") {
  Agent agent = asking(two_not_loaded());
  agent.now += 600s;
  SECTION("where the timer is the first event") { agent.on(Deadline{}); }
  SECTION("where another event is the first") { agent.on(KernelChanged{}); }
  CHECK_FALSE(agent.state.history.busy->stuck);
  agent.wait(19'999ms);
  CHECK_FALSE(agent.state.history.busy->stuck);
  agent.wait(1ms);
  CHECK(agent.state.history.busy->stuck);
}

TEST_CASE("step: an executor that dies in a call was reached, and is not asked the same at once") {
  Agent agent = asking(link_down());
  agent.on(CallEnded{kLink, fail(ECONNRESET, "waiting for", "the executor")});
  REQUIRE(agent.effects.call_failed);
  CHECK(describe(agent.effects.call_failed->operation) == describe(Operation{kLink}));
  CHECK(agent.effects.call_failed->why == "waiting for the executor: Connection reset by peer");
  CHECK_FALSE(agent.state.history.executor_missing);
  CHECK_FALSE(agent.state.paused_until);
  agent.now += 100ms;
  agent.look(link_down());
  CHECK(agent.call().empty());
  // A failure that repeats itself is logged once, until an action was carried out.
  agent.on(CallEnded{kLink, fail(ECONNRESET, "waiting for", "the executor")});
  CHECK_FALSE(agent.effects.call_failed);
  agent.answers(kUmad);
  agent.on(CallEnded{kLink, fail(ECONNRESET, "waiting for", "the executor")});
  CHECK(agent.effects.call_failed);
}

TEST_CASE("step: the executor's socket may come after the first call, once and within its time") {
  Agent agent = asking(link_down(), TimeLimits{20s, 30s, 2s, 30s});
  agent.on(ExecutorUnreachable{kLink, kMissing});
  CHECK(agent.effects.deadline == agent.now + 50ms);
  CHECK(agent.state.history.busy);
  // The plan no longer has the action.
  agent.look(ready_scene());
  agent.wait(50ms);
  CHECK(agent.call() == "ConfigureLink " + function_of(0));
  SECTION("it comes in time") {
    agent.answers(kLink);
    CHECK_FALSE(agent.state.patient_until);
    agent.look(link_down());
    agent.on(ExecutorUnreachable{kLink, kMissing});
    CHECK(agent.state.history.executor_missing == kMissing);
  }
  SECTION("it does not come in time") {
    agent.wait(1s);
    agent.on(ExecutorUnreachable{kLink, kMissing});
    CHECK(agent.state.history.executor_missing == kMissing);
    CHECK_FALSE(agent.state.history.busy);
  }
}

TEST_CASE("step: a missing executor is asked again after pauses, each twice as long") {
  Agent agent = asking(two_not_loaded(), TimeLimits{20s, 30s, 0ms, 30s});
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 16s}) {
    agent.on(ExecutorUnreachable{kUmad, kMissing});
    CHECK(agent.effects.look);
    CHECK_FALSE(agent.effects.call_failed);  // it becomes a finding, and the finding is logged
    const std::size_t calls = agent.calls.size();
    agent.now += 10ms;
    agent.look(two_not_loaded());
    CHECK(agent.has(FindingId::ExecutorMissing));
    CHECK(agent.state.health.state == State::Failed);
    agent.wait(pause - 11ms);
    agent.look(two_not_loaded());
    REQUIRE(agent.calls.size() == calls);
    agent.wait(1ms);
    CHECK(agent.effects.look);
    agent.now += 5ms;
    agent.look(two_not_loaded());
    REQUIRE(agent.calls.size() == calls + 1);
  }
  agent.answers(kUmad);
  CHECK_FALSE(agent.state.history.executor_missing);
  CHECK(agent.call() == "LoadModule rdma_cm");
  agent.on(ExecutorUnreachable{kCm, kMissing});
  CHECK(*agent.state.paused_until == agent.now + 1s);
}

TEST_CASE(
    "step: an executor that cannot be asked is an error only where there is something to do") {
  Agent agent = asking(link_down(), TimeLimits{20s, 30s, 0ms, 30s});
  agent.on(ExecutorUnreachable{kLink, kMissing});
  agent.look(ready_scene());
  CHECK_FALSE(agent.has(FindingId::ExecutorMissing));
  CHECK(agent.state.health.state == State::Ready);
  agent.look(link_down());
  // A link that has just gone down is left for a second.
  agent.now += 1s;
  agent.look(link_down());
  REQUIRE(agent.has(FindingId::ExecutorMissing));
  CHECK(finding(agent.state.health.findings, FindingId::ExecutorMissing)
            ->summary.find("/run/executor: No such file") != std::string::npos);
}

TEST_CASE("step: an executor that works on a call is not missing, also while the call is stuck") {
  Agent agent = asking(two_not_loaded(), TimeLimits{20s, 30s, 0ms, 30s});
  agent.on(ExecutorUnreachable{kUmad, kMissing});
  agent.wait(1s);
  agent.look(two_not_loaded());
  REQUIRE(agent.state.history.busy);
  for (const auto later : {10ms, 60'000ms}) {
    agent.wait(later);
    agent.look(two_not_loaded());
    REQUIRE(agent.state.history.busy);
    CHECK_FALSE(agent.has(FindingId::ExecutorMissing));
  }
  CHECK(agent.has(FindingId::ExecutorStuck));
}

TEST_CASE("step: an executor that was missing once is no error of a later call") {
  Agent agent = asking(link_down(), TimeLimits{20s, 30s, 0ms, 30s});
  agent.on(ExecutorUnreachable{kLink, kMissing});
  agent.wait(2s);
  // The link was brought up by an administrator.
  agent.look(ready_scene());
  agent.now += 1h;
  agent.look(link_down());
  agent.now += 1s;
  agent.look(link_down());
  CHECK(agent.call() == "ConfigureLink " + function_of(0));
  CHECK_FALSE(agent.has(FindingId::ExecutorMissing));
}
