// Dispatcher: carries a plan's actions to the executor, one at a time, without ever waiting.
//
// A call that does not come back within its bound is called stuck and stays the only one: what
// hangs in the kernel cannot be taken back, and another privileged call beside it would only hang
// too.
#pragma once

#include <systemd/sd-event.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "agent/base/timer.hpp"
#include "agent/codec/json.hpp"
#include "agent/daemon/observer.hpp"
#include "agent/model/health.hpp"
#include "agent/varlink/client.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma {

class Dispatcher {
 public:
  struct Events {
    // A call came back: what it answered, or the Error of reaching the executor.
    std::function<void(const Operation&, const Result<Report>&)> answered;
    // busy() has changed: a call began, or turned out to be stuck.
    std::function<void()> busy_changed;
    // Nothing is under way or queued any more; or the executor, which was not there, may be asked
    // again.
    std::function<void()> idle;
  };

  // Nothing of the boot is waited for before the agent starts, not even the executor's socket:
  // until it was reached once, a call is tried again for that long.
  static constexpr Milliseconds kSocketPatience{10'000};
  // Where that socket cannot be connected to, nothing is asked of the executor for so long, and
  // after each further try in vain for twice as long, up to the longest: idle() leads to the next
  // look, which leads to the same actions.
  static constexpr Milliseconds kFirstPause{1'000};
  static constexpr Milliseconds kLongestPause{16'000};

  // `event` must outlive the dispatcher.
  Dispatcher(sd_event* event, Events events, std::string socket = varlink::kExecutorSocket,
             Milliseconds socket_patience = kSocketPatience);

  // Begins to carry out `actions`. Does nothing while busy, or pausing as the executor is not
  // there.
  void carry_out(const std::vector<Action>& actions);
  // Drops what is queued but no longer part of the newest plan.
  void keep_only(const std::vector<Action>& actions);

  [[nodiscard]] const std::optional<BusyCall>& busy() const { return busy_; }
  // What came back answered, as this program saw it: the executor's ledger is to say the same.
  [[nodiscard]] const Ledger& answered() const { return answered_; }
  // What reached the executor but was not answered as asked: it could not read it
  // (InvalidParameter, MethodNotFound), hung up on it or died of it. Tried in vain all the same,
  // though its ledger need not know of it.
  [[nodiscard]] const Ledger& not_understood() const { return not_understood_; }
  // Why the last call did not reach the executor; none: it did, or there was none.
  [[nodiscard]] const std::optional<Error>& unreached() const { return unreached_; }
  // When the last call came back: what was seen before it says nothing about its effect.
  [[nodiscard]] BootTime last_answer() const { return last_answer_; }

 private:
  void next();
  void call(const Operation& operation);
  // Whether the call is going to be made again.
  [[nodiscard]] bool is_repeated(const Operation& operation);
  static int on_retry(sd_event_source* source, std::uint64_t usec, void* self);
  void remember(Ledger& ledger, const Operation& operation, const Report& answer);
  void on_reply(const Operation& operation, const Result<varlink::Reply>& reply);
  static int on_timer(sd_event_source* source, std::uint64_t usec, void* self);
  void pause();
  static int on_pause_over(sd_event_source* source, std::uint64_t usec, void* self);

  sd_event* event_;
  Events events_;
  varlink::AsyncClient client_;
  std::deque<Action> queue_;
  std::optional<BusyCall> busy_;
  Ledger answered_;
  Ledger not_understood_;
  BootTime last_answer_{};
  std::optional<BootTime> patient_until_;  // none: the socket was reached
  std::optional<Operation> repeated_;
  EventSource retry_;
  EventSource timer_;
  std::optional<Error> unreached_;
  Milliseconds last_pause_{0};  // none since the executor was reached
  EventSource pause_;           // while there is one
};

// What the executor has answered, held against its ledger: a ledger that loses entries, on a full
// /run or by any other way, does not allow more attempts, and its loss is noticed.
//
// Adds to the look's ledger what it lacks of the two. Where one of `answered`, of the last minute,
// was not in the ledger when it was read, that is its `ledger_error`, if it has none yet; after
// that minute whatever is planned next shows whether it is so still.
void complete_ledger(Look& look, const Ledger& answered, const Ledger& not_understood = {});

}  // namespace pvrdma
