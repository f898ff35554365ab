#include "agent/daemon/dispatcher.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/base/guarded.hpp"

namespace pvrdma {

namespace {

// Unloading vmw_pvrdma takes seconds, ten for each command of a device that no longer answers
// (PVRDMA_CMD_TIMEOUT, drivers/infiniband/hw/vmw_pvrdma/pvrdma_cmd.c, Linux 6.1).
constexpr Milliseconds kBound{20'000};
constexpr Milliseconds kReloadBound{60'000};
// No file event tells when systemd calls listen(2) on the executor's socket: so often is it tried.
constexpr Milliseconds kRetry{50};
// How long an answer that the ledger lacks is held against it.
constexpr Milliseconds kHeldAgainst{60'000};
// The only error that the executor answers with after having looked at what was asked.
constexpr const char* kNotAllowed = "io.pvrdma.Executor.NotAllowed";

bool is_understood(const varlink::Reply& reply) {
  return reply.error.empty() || reply.error == kNotAllowed;
}

Result<Report> answer_of(const Operation& operation, const Result<varlink::Reply>& reply) {
  if (!reply) return fail(reply.error());
  if (reply->error.empty()) {
    const auto result = reply->parameters.find("result");
    if (result == reply->parameters.end())
      return fail(EBADMSG, "reading the executor's answer to", describe(operation));
    return codec::report_from(*result);
  }
  if (!is_understood(*reply))
    return failed(
        {0, "the executor answered", reply->error + " " + varlink::to_text(reply->parameters)});
  Report refusal;
  refusal.outcome = Outcome::NotAllowed;
  refusal.detail = reply->parameters.value("reason", reply->error);
  return refusal;
}

// By the same clock: the executor began after it was asked. A refusal may stand for an older one.
bool is_in(const std::vector<Attempt>& list, const Attempt& answered) {
  return std::any_of(list.begin(), list.end(), [&](const Attempt& entry) {
    return entry.verb == answered.verb && entry.target == answered.target &&
           entry.started >= answered.started &&
           (entry.started <= end_of(answered) || is_refusal(answered));
  });
}

}  // namespace

Dispatcher::Dispatcher(sd_event* event, Events events, std::string socket,
                       Milliseconds socket_patience)
    : event_(event),
      events_(std::move(events)),
      client_(event, std::move(socket)),
      patient_until_(BootClock::now() + socket_patience) {}

void Dispatcher::carry_out(const std::vector<Action>& actions) {
  if (busy_ || pause_ || actions.empty()) return;
  queue_.assign(actions.begin(), actions.end());
  next();
}

void Dispatcher::keep_only(const std::vector<Action>& actions) {
  std::erase_if(queue_, [&](const Action& queued) {
    return std::none_of(actions.begin(), actions.end(),
                        [&](const Action& action) { return action.operation == queued.operation; });
  });
}

void Dispatcher::next() {
  if (queue_.empty()) {
    if (unreached_) pause();
    events_.idle();
    return;
  }
  const Operation operation = queue_.front().operation;
  queue_.pop_front();
  busy_ = BusyCall{verb(operation), target(operation), BootClock::now(), false};
  const Milliseconds bound = takes_driver_away(operation) ? kReloadBound : kBound;
  // Without a timer a stuck call is still shown as busy, with its age; only the word is missing.
  if (auto timer = call_after(event_, CLOCK_BOOTTIME, bound, on_timer, this))
    timer_ = std::move(*timer);
  call(operation);
  events_.busy_changed();
}

void Dispatcher::call(const Operation& operation) {
  client_.call(std::string{"io.pvrdma.Executor."} + to_string(verb(operation)),
               codec::to_parameters(operation), [this, operation](Result<varlink::Reply> reply) {
                 if (!is_repeated(operation)) on_reply(operation, reply);
               });
}

bool Dispatcher::is_repeated(const Operation& operation) {
  if (client_.connected()) patient_until_.reset();
  if (!patient_until_ || BootClock::now() >= *patient_until_) return false;
  auto retry = call_after(event_, CLOCK_MONOTONIC, kRetry, on_retry, this);
  if (!retry) return false;
  retry_ = std::move(*retry);
  repeated_ = operation;
  return true;
}

int Dispatcher::on_retry(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [dispatcher = static_cast<Dispatcher*>(self)] {
    if (const auto operation = std::exchange(dispatcher->repeated_, std::nullopt))
      dispatcher->call(*operation);
  });
}

void Dispatcher::remember(Ledger& ledger, const Operation& operation, const Report& answer) {
  add(ledger, {verb(operation), target(operation), busy_->since, last_answer_, answer.outcome,
               answer.detail});
  if (answer.outcome != Outcome::Done) return;
  if (std::holds_alternative<ReloadDriver>(operation)) ++ledger.reloads;
  if (std::holds_alternative<RebindFunction>(operation)) ++ledger.rebinds;
}

void Dispatcher::on_reply(const Operation& operation, const Result<varlink::Reply>& reply) {
  timer_.reset();
  last_answer_ = BootClock::now();
  const Result<Report> answer = answer_of(operation, reply);
  if (answer && is_understood(*reply))
    remember(answered_, operation, *answer);
  else if (client_.connected())
    remember(not_understood_, operation, answer ? *answer : failed(answer.error()));
  busy_.reset();
  unreached_ = client_.connected() ? std::nullopt : std::optional{reply.error()};
  if (!unreached_) last_pause_ = Milliseconds{0};
  events_.answered(operation, answer);
  // After a failure the rest rests on a state that was not reached; a module that would not load
  // keeps no other from being tried.
  if (!(answer && answer->good()) && !std::holds_alternative<LoadModule>(operation)) queue_.clear();
  next();
}

void Dispatcher::pause() {
  last_pause_ = std::clamp(2 * last_pause_, kFirstPause, kLongestPause);
  // Without a timer the executor is tried again at the next look.
  if (auto pause = call_after(event_, CLOCK_MONOTONIC, last_pause_, on_pause_over, this))
    pause_ = std::move(*pause);
}

int Dispatcher::on_pause_over(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [dispatcher = static_cast<Dispatcher*>(self)] {
    dispatcher->pause_.reset();
    dispatcher->events_.idle();
  });
}

int Dispatcher::on_timer(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [dispatcher = static_cast<Dispatcher*>(self)] {
    if (!dispatcher->busy_) return;
    dispatcher->busy_->stuck = true;
    dispatcher->events_.busy_changed();
  });
}

void complete_ledger(Look& look, const Ledger& answered, const Ledger& not_understood) {
  Snapshot& snapshot = look.snapshot;
  const Ledger known = snapshot.ledger;  // as it was read
  const auto complete = [&](std::vector<Attempt>& list, const std::vector<Attempt>& with,
                            bool is_written) {
    const std::size_t before = list.size();
    for (const Attempt& attempt : with) {
      if (is_in(known.attempts, attempt) || is_in(known.refusals, attempt)) continue;
      list.push_back(attempt);
      const bool was_there = look.started >= end_of(attempt);
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
  complete(snapshot.ledger.attempts, answered.attempts, true);
  complete(snapshot.ledger.attempts, not_understood.attempts, false);
  complete(snapshot.ledger.refusals, answered.refusals, true);
  snapshot.ledger.reloads = std::max(known.reloads, answered.reloads);
  snapshot.ledger.rebinds = std::max(known.rebinds, answered.rebinds);
}

}  // namespace pvrdma
