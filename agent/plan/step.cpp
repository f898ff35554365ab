// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/plan/step.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "agent/plan/findings.hpp"
#include "agent/plan/planner.hpp"
#include "agent/plan/questions.hpp"
#include "agent/plan/stepping.hpp"

namespace pvrdma {

namespace {

// How long an answer that is missing in the ledger counts as a fault of the ledger.
constexpr Milliseconds kHeldAgainst{60'000};

// Both processes use the same clock, and the executor starts an attempt after the agent's call. A
// refusal in the ledger may have replaced an older one.
bool is_in(const std::vector<Attempt>& list, const Attempt& answered) {
  return std::any_of(list.begin(), list.end(), [&](const Attempt& entry) {
    return entry.verb == answered.verb && entry.target == answered.target &&
           entry.started >= answered.started &&
           (entry.started <= end_of(answered) || is_refusal(answered));
  });
}

// A daemon that is started again counts the attempts of this time before its start. So a daemon
// that crashes again and again has one budget, not a new one each time.
constexpr Milliseconds kMemory{600'000};
// After three missed looks and a device command that timed out, the last look no longer counts as
// the present state.
constexpr Milliseconds kStale{60'000};
// A step that is so late did not just wait for a busy CPU.
constexpr Milliseconds kLate{2'000};

// Whether two healths are equal for clients that watch: only the time of the look may differ.
bool looks_the_same(Health left, const Health& right) {
  left.observed = right.observed;
  return left == right;
}

}  // namespace

void complete_ledger(Looked& look, const Tried& tried) {
  Snapshot& snapshot = look.snapshot;
  const Ledger known = snapshot.ledger;  // as it was read
  const auto complete = [&](std::vector<Attempt>& list, const std::vector<Attempt>& with,
                            bool is_written) {
    const std::size_t before = list.size();
    for (const Attempt& attempt : with) {
      if (is_in(known.attempts, attempt) || is_in(known.refusals, attempt)) continue;
      list.push_back(attempt);
      const bool was_there = look.began >= end_of(attempt);
      const bool recent = snapshot.taken_at - end_of(attempt) < kHeldAgainst;
      if (!is_written || snapshot.ledger_error || !was_there || !recent) continue;
      snapshot.ledger_error =
          Error{0, "looking in the executor's ledger for",
                describe(attempt.verb, attempt.target) + ", which is not there" +
                    (attempt.detail.empty() ? "" : " (" + attempt.detail + ")")};
    }
    if (list.size() == before) return;
    std::stable_sort(list.begin(), list.end(), [](const Attempt& left, const Attempt& right) {
      return left.started < right.started;
    });
  };
  complete(snapshot.ledger.attempts, tried.answered.attempts, true);
  complete(snapshot.ledger.attempts, tried.not_understood.attempts, false);
  complete(snapshot.ledger.refusals, tried.answered.refusals, true);
  snapshot.ledger.reloads = std::max(known.reloads, tried.answered.reloads);
  snapshot.ledger.rebinds = std::max(known.rebinds, tried.answered.rebinds);
}

void Stepping::conclude(const Snapshot* before) {
  s_.plan = pvrdma::plan(s_.config, *s_.snapshot, s_.history, now_);
  std::vector<Finding>& findings = s_.plan.findings;
  if (!s_.left_out.empty())
    findings.insert(findings.begin(), findings::config_left_out(s_.left_out));
  if (!s_.config_error.empty())
    findings::put_config_bad(findings, s_.config_error, s_.is_safe_subset);
  if (s_.look_stuck) findings.insert(findings.begin(), findings::look_stuck(*s_.look_stuck));
  if (!before_) before_ = s_.health;
  s_.health = assess(s_.config, *s_.snapshot, s_.plan, s_.history, now_);
  s_.boot = advance(std::move(s_.boot), s_.config, before, *s_.snapshot, s_.health);
  s_.health.since = s_.health.state == before_->state ? before_->since : now_;
  // The executor may still be binding functions, one by one.
  const bool probes = s_.history.busy && probes_functions(s_.history.busy->operation);
  if (!probes && driver_is_decided(*s_.snapshot, s_.plan)) say_ready();
}

void Stepping::conclude_again() {
  if (s_.snapshot) return conclude(&*s_.snapshot);
  if (!s_.look_stuck) return;
  if (!before_) before_ = s_.health;
  s_.health.findings = {findings::look_stuck(*s_.look_stuck)};
}

void Stepping::say_ready() {
  e_.ready = e_.ready || !s_.ready_told;
  s_.ready_told = true;
}

void Stepping::next_by(BootTime when) {
  if (!e_.deadline || when < *e_.deadline) e_.deadline = when;
}

void Stepping::note_resumption() {
  if (s_.deadline && now_ >= *s_.deadline + kLate) s_.resumed = now_;
}

void Stepping::expire() {
  if (now_ >= s_.started + s_.limits.ready) say_ready();
  expire_call();
  expire_looks();
  expire_clients();
}

void Stepping::finish() {
  e_.concluded = before_.has_value();
  if (before_ && !looks_the_same(*before_, s_.health))
    for (const ClientId watcher : s_.watchers) answer(watcher, Answer::What::HealthAndMore);
  if (!s_.ready_told) next_by(s_.started + s_.limits.ready);
  plan_look_deadlines();
  plan_call_deadlines();
  plan_client_deadlines();
  s_.deadline = e_.deadline;
}

Stepped first_step(const Start& start) {
  Stepped first;
  AgentState& state = first.state;
  state.config = start.config;
  state.left_out = start.left_out;
  state.config_error = start.error;
  state.is_safe_subset = !start.error.empty();
  state.started = start.at;
  state.limits = start.limits;
  state.patient_until = start.at + start.limits.socket_patience;
  state.history.started = start.at;
  state.history.fresh_start = std::max(BootTime{}, start.at - kMemory);
  state.health.since = start.at;
  state.health.summary = "no look has finished yet";
  state.boot.add({StepKind::AgentStarted, {}, start.at, std::nullopt, false});
  Stepping stepping{state, first.effects, start.at};
  state.look_asked = state.look_due = start.at;
  stepping.schedule_looks(true);
  stepping.finish();
  return first;
}

Stepped step(AgentState state, const Event& event, BootTime now) {
  Stepped next{std::move(state), {}};
  Stepping stepping{next.state, next.effects, now};
  stepping.note_resumption();
  std::visit([&](const auto& one) { stepping.on(one); }, event);
  stepping.expire();
  stepping.finish();
  return next;
}

bool tells_something(const Event& event, const Effects& effects) {
  return std::visit(
      [&](const auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, ReloadAsked> || std::is_same_v<Kind, AcknowledgeAsked>)
          return one.caller == Caller::Root;
        else if constexpr (std::is_same_v<Kind, LookedSame> || requires { one.client; })
          return effects.look;
        else
          return true;
      },
      event);
}

Health health_at(const AgentState& state, BootTime now) {
  Health health = state.health;
  health.busy = state.history.busy;
  if (health.observed != BootTime{}) health.observed = std::max(health.observed, state.confirmed);
  return if_fresh(std::move(health), now, kStale);
}

}  // namespace pvrdma
