// SPDX-License-Identifier: GPL-2.0-or-later
// step(): when the looks happen, and the pass over the result of a look.
#include <algorithm>
#include <utility>

#include "agent/plan/findings.hpp"
#include "agent/plan/stepping.hpp"

namespace pvrdma {

namespace {

// The host can take a port down without any event in the guest, so looks also happen without an
// event: at a short interval while something may still change, then at an interval that doubles.
constexpr Milliseconds kShortestInterval{2'000};
constexpr Milliseconds kLongestInterval{30'000};
// A look that sees nothing new is handed over at least this often, to feed the watchdog.
constexpr Milliseconds kDeliverAtLeastEvery{60'000};
// A look costs CPU at the daemon's high priority. So users who could not stop the daemon get one
// look in this time, all together.
constexpr Milliseconds kBetweenLooksForOthers{1'000};
// Peers on the RDMA network cause events too: each Router Advertisement with a prefix gives one. So
// events get this many looks at once, and then one in this time, with one more for events that come
// while it runs. The lab's boots need up to 29 at once: none of their looks may wait.
constexpr int kEventLooks = 64;
constexpr Milliseconds kBetweenEventLooks{500};
// A look that is this late is asked for, as there is no event when a machine wakes up from sleep.
// The sum with kDeliverAtLeastEvery and TimeLimits::look must be less than the unit's WatchdogSec=.
constexpr Milliseconds kMissed{10'000};
// A configuration that has been invalid since the start is read again after this time.
constexpr Milliseconds kReadAgain{15'000};

}  // namespace

void Stepping::ask_look() {
  e_.look = true;
  if (!s_.look_asked) s_.look_due = now_;
  s_.look_asked = now_;
  s_.event_waits = false;
}

// Whether a look will end soon, so that this client may wait for it.
bool Stepping::look_for(Caller caller) {
  // A late look does not end sooner if it is asked for again.
  if (s_.look_asked) return now_ - s_.look_due < kFreshPatience;
  if (caller == Caller::Other) {
    if (now_ < s_.looked_for_others + kBetweenLooksForOthers) return false;
    s_.looked_for_others = now_;
  }
  ask_look();
  return true;
}

void Stepping::ask_fresh(const Waiting& asking) {
  const bool known = s_.health.observed != BootTime{};
  const BootTime observed = std::max(s_.health.observed, s_.confirmed);
  if ((known && now_ - observed <= kFresh) || !look_for(asking.caller))
    return answer_waiting(asking);
  s_.fresh.push_back(asking);
}

// Whether a client of another user waits for a look that has not been asked for.
bool Stepping::others_wait() const {
  return std::any_of(s_.refreshes.begin(), s_.refreshes.end(), [&](const Waiting& waiting) {
    return waiting.caller == Caller::Other && !(s_.look_asked && *s_.look_asked >= waiting.since);
  });
}

void Stepping::look_for_others() {
  if (!others_wait() || now_ < s_.looked_for_others + kBetweenLooksForOthers) return;
  s_.looked_for_others = now_;
  ask_look();
}

BootTime Stepping::next_event_look() const {
  return s_.event_looks_until - (kEventLooks - 1) * kBetweenEventLooks;
}

void Stepping::on(const KernelChanged&) {
  s_.event_waits = true;
  look_for_events();
}

// Until the look ends, further events ask for one more look at most, so they do not count.
void Stepping::look_for_events() {
  if (!s_.event_waits) return;
  if (!s_.event_look_asked) {
    if (now_ < next_event_look()) return;
    s_.event_looks_until = std::max(s_.event_looks_until, now_) + kBetweenEventLooks;
    s_.event_look_asked = true;
  }
  ask_look();
}

void Stepping::on(const LookedSame& looked) { s_.confirmed = std::max(s_.confirmed, looked.ended); }

void Stepping::on(const Looked& looked) {
  e_.alive = true;
  if (s_.look_asked && looked.began >= *s_.look_asked) s_.look_asked.reset();
  s_.look_due = s_.look_asked.value_or(now_ + kDeliverAtLeastEvery);
  s_.look_stuck.reset();
  s_.event_look_asked = false;
  if (config_may_be_old(looked.snapshot)) {
    s_.held_look = looked;
    e_.read_config = true;
  } else {
    pass(looked);
  }
}

// Whether no valid configuration was read yet, or the kernel could not read the files.
bool Stepping::reads_config_again() const { return s_.is_safe_subset || s_.config_unreadable; }

// Whether the configuration files are read again without waiting for an administrator's request:
// also where a customization of the VM has ended, or may have ended before the first look, as it
// may have changed them without an event.
bool Stepping::config_may_be_old(const Snapshot& seen) const {
  if (reads_config_again()) return true;
  return seen.customization.is_absent() &&
         (!s_.snapshot || !s_.snapshot->customization.is_absent());
}

void Stepping::on(const ConfigLoaded& loaded) {
  const bool is_new = loaded.requested || !s_.config_error.empty() ||
                      loaded.left_out != s_.left_out || loaded.config != s_.config;
  s_.config_unreadable = loaded.unreadable;
  if (!loaded.error.empty()) {
    // A new error is a new finding, which is logged as such.
    if (loaded.requested && loaded.error == s_.config_error) e_.config_rejected = loaded.error;
    s_.config_error = loaded.error;
  } else if (is_new) {
    s_.config = loaded.config;
    s_.left_out = loaded.left_out;
    s_.config_error.clear();
    s_.is_safe_subset = false;
    s_.history.fresh_start = now_;
    e_.config_loaded = loaded.files;
  }
  if (auto held = std::exchange(s_.held_look, std::nullopt)) pass(std::move(*held));
  if (!loaded.requested) return;
  conclude_again();
  keep_planned();
  schedule_looks(true);
  ask_look();
}

void Stepping::pass(Looked look) {
  complete_ledger(look, s_.tried);
  s_.history = advance(std::move(s_.history), s_.snapshot ? &*s_.snapshot : nullptr, look.snapshot);
  const auto before = std::exchange(s_.snapshot, std::move(look.snapshot));
  const bool changed = !before || static_cast<const SystemState&>(*before) != *s_.snapshot;
  s_.look_began = look.began;
  s_.confirmed = std::max(s_.confirmed, s_.snapshot->taken_at);
  // A call that did not fail at once has reached the executor.
  if (s_.history.busy && look.began > s_.history.busy->since) s_.history.executor_missing.reset();
  conclude(before ? &*before : nullptr);
  // A later call may reach the executor.
  if (s_.plan.actions.empty() && !s_.paused_until) s_.history.executor_missing.reset();
  keep_planned();
  const auto busy = s_.history.busy;
  const auto asked = s_.history.reload_asked;
  // A look that began before the executor's last answer does not show the effect of that call.
  if (look.began >= s_.last_answer) carry_out();
  // Only after carry_out() is it known whether a reload has started; a request that ends here does
  // not start one.
  settle_reload(look.began);
  if (busy != s_.history.busy || asked != s_.history.reload_asked) conclude_again();
  schedule_looks(changed);
  answer_due(s_.refreshes, [&](const Waiting& waiting) { return waiting.since <= look.began; });
  answer_due(s_.fresh,
             [&](const Waiting& waiting) { return waiting.since <= look.began + kFresh; });
}

// Whether an operation is under way, or a wait within its limit, so that looks must be frequent. A
// stuck call and a missing executor do not count: an event, or the end of a pause, ends them.
bool Stepping::is_pending() const {
  const bool planned = !s_.plan.actions.empty() && !s_.history.executor_missing;
  const bool busy = s_.history.busy && !s_.history.busy->stuck;
  return s_.health.state == State::Converging || busy || s_.history.reload_asked ||
         (planned && !s_.history.busy);
}

void Stepping::schedule_looks(bool changed) {
  s_.interval =
      changed || is_pending() ? kShortestInterval : std::min(2 * s_.interval, kLongestInterval);
  BootTime due = now_ + (s_.interval < kLongestInterval ? s_.interval : kDeliverAtLeastEvery);
  if (reads_config_again()) due = std::min(due, now_ + kReadAgain);
  if (s_.plan.next_look) due = std::min(due, std::max(*s_.plan.next_look, now_));
  e_.looks = Looks{s_.config.modules.before, s_.interval, due};
  if (!s_.look_asked) s_.look_due = due;
}

void Stepping::expire_looks() {
  look_for_others();
  look_for_events();
  if (!s_.look_asked && now_ >= s_.look_due + kMissed) ask_look();
}

// While a look is known to hang in the kernel the watchdog is still fed: no signal would end this
// daemon, and a new daemon would hang as well. A device command that is interrupted also leaves its
// answer to the next command of another process. A look that has not begun does not feed the
// watchdog.
void Stepping::on(const Deadline& deadline) {
  const auto& since = deadline.looking_since;
  if (!s_.look_asked || now_ < std::max(s_.look_due, s_.look_checked) + s_.limits.look) return;
  const bool is_young = since && now_ < *since + s_.limits.look;
  s_.look_checked = is_young ? *since : now_;
  if (!since || is_young) return;
  e_.alive = true;
  if (now_ < s_.resumed + s_.limits.look) return;
  if (std::exchange(s_.look_stuck, since) != since) conclude_again();
}

void Stepping::plan_look_deadlines() {
  if (others_wait()) next_by(s_.looked_for_others + kBetweenLooksForOthers);
  if (s_.event_waits) next_by(next_event_look());
  if (!s_.look_asked) return next_by(s_.look_due + kMissed);
  // A limit that has passed at another event is checked one millisecond later.
  next_by(
      std::max(std::max(s_.look_due, s_.look_checked) + s_.limits.look, now_ + Milliseconds{1}));
}

}  // namespace pvrdma
