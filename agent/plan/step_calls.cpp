// SPDX-License-Identifier: GPL-2.0-or-later
// step(): the executor's calls, one at a time, without ever waiting.
//
// A call that does not return within its limit is called stuck, and no other call is made: an
// operation that hangs in the kernel cannot be cancelled, and a second privileged call would only
// hang too.
#include <algorithm>
#include <utility>
#include <variant>

#include "agent/plan/stepping.hpp"

namespace pvrdma {

namespace {

// The limit of a call that leaves the driver alone.
constexpr Milliseconds kBound{20'000};
// No file event tells when systemd calls listen(2) on the executor's socket, so the agent retries
// at this interval.
constexpr Milliseconds kRetry{50};
// The pause of calls after a failed connection to the socket. It doubles after each further
// failure, up to the longest.
constexpr Milliseconds kFirstPause{1'000};
constexpr Milliseconds kLongestPause{16'000};

BootTime bound_of(const CallUnderWay& call, BootTime resumed) {
  return std::max(call.since, resumed) +
         (takes_driver_away(call.operation) ? kReloadBound : kBound);
}

}  // namespace

void Stepping::carry_out() {
  if (s_.history.busy || s_.paused_until || s_.plan.actions.empty()) return;
  s_.queue = s_.plan.actions;
  call_next();
}

void Stepping::call_next() {
  const Operation operation = std::move(s_.queue.front().operation);
  s_.queue.erase(s_.queue.begin());
  s_.history.busy = CallUnderWay{operation, now_, false};
  e_.call = operation;
}

// Drops queued actions that are no longer part of the newest plan.
void Stepping::keep_planned() {
  std::erase_if(s_.queue, [&](const Action& queued) {
    return std::none_of(s_.plan.actions.begin(), s_.plan.actions.end(),
                        [&](const Action& action) { return action.operation == queued.operation; });
  });
}

void Stepping::remember(Ledger& ledger, const Operation& operation, const OperationResult& result) {
  const BootTime began = s_.history.busy ? s_.history.busy->since : now_;
  add(ledger, {verb(operation), target(operation), began, now_, result.outcome, result.detail});
  if (result.outcome != Outcome::Done) return;
  if (std::holds_alternative<ReloadDriver>(operation)) ++ledger.reloads;
  if (std::holds_alternative<RebindFunction>(operation)) ++ledger.rebinds;
}

void Stepping::on(const CallEnded& ended) {
  const auto& [operation, result] = ended;
  if (result)
    remember(s_.tried.answered, operation, *result);
  else
    remember(s_.tried.not_understood, operation, failed(result.error()));
  s_.history.busy.reset();
  s_.history.executor_missing.reset();
  s_.patient_until.reset();
  s_.repeated.reset();
  s_.last_pause = Milliseconds{0};
  s_.last_answer = now_;
  // The executor logs itself what it did or tried.
  const std::string refusal = result ? "" : result.error().message();
  if (!refusal.empty() && refusal != s_.last_refusal)
    e_.call_failed = CallFailed{operation, refusal};
  s_.last_refusal = refusal;
  if (takes_driver_away(operation)) {
    if (!result)
      end_reload(result.error().message(), {});
    else
      end_reload(result->good() ? "" : result->detail, result->holders);
  }
  // After a failure the rest of the plan depends on a state that was not reached. A failed load of
  // a module is an exception: the other modules are still tried.
  if (!(result && result->good()) && !std::holds_alternative<LoadModule>(operation))
    s_.queue.clear();
  if (s_.queue.empty()) return ask_look();
  call_next();
  conclude_again();
}

void Stepping::on(const ExecutorUnreachable& unreachable) {
  if (s_.patient_until && now_ < *s_.patient_until) {
    s_.repeated = unreachable.operation;
    s_.repeat_at = now_ + kRetry;
    return;
  }
  s_.history.busy.reset();
  s_.history.executor_missing = unreachable.error;
  s_.last_answer = now_;
  s_.queue.clear();
  if (takes_driver_away(unreachable.operation)) end_reload(unreachable.error.message(), {});
  pause();
  ask_look();
}

void Stepping::pause() {
  s_.last_pause = std::clamp(2 * s_.last_pause, kFirstPause, kLongestPause);
  s_.paused_until = now_ + s_.last_pause;
}

void Stepping::expire_call() {
  if (s_.paused_until && now_ >= *s_.paused_until) {
    s_.paused_until.reset();
    ask_look();
  }
  if (s_.repeated && now_ >= s_.repeat_at) e_.call = std::exchange(s_.repeated, std::nullopt);
  auto& busy = s_.history.busy;
  if (!busy || busy->stuck || now_ < bound_of(*busy, s_.resumed)) return;
  busy->stuck = true;
  if (takes_driver_away(busy->operation))
    end_reload("the executor has not answered " + describe(busy->operation), {});
  conclude_again();
}

void Stepping::plan_call_deadlines() {
  if (s_.paused_until) next_by(*s_.paused_until);
  if (s_.repeated) next_by(s_.repeat_at);
  if (s_.history.busy && !s_.history.busy->stuck) next_by(bound_of(*s_.history.busy, s_.resumed));
}

}  // namespace pvrdma
