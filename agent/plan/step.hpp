// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon's whole behaviour as one pure function: a state and an event give a new state and the
// effects to carry out.
//
// agent/daemon is the shell around it: its sources make events, its only timer is set to the
// deadline, and it carries out the effects in the order of the members of Effects. Nothing here
// blocks, reads a clock or does I/O. The same events at the same times give the same effects, so a
// recording (agent/codec/recording.hpp) shows afterwards why something was done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/attempt.hpp"
#include "agent/model/config.hpp"
#include "agent/model/event.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"
#include "agent/plan/history.hpp"

namespace pvrdma {

// The executor's calls that this daemon has seen end.
struct Tried {
  // Calls with an answer: the executor's ledger must contain them.
  Ledger answered;
  // Calls that reached the executor but got no answer: it could not read the call, closed the
  // connection, or died. They count as failed attempts, but need not be in the ledger.
  Ledger not_understood;
};

// Adds to the look's ledger the entries of `tried` that are missing, so that a ledger that loses
// entries, on a full /run or otherwise, does not allow more attempts. Where an answer of the last
// minute was missing when the ledger was read, sets `ledger_error` if it is empty. After that
// minute the error ends, and the next operation shows whether entries are still lost.
void complete_ledger(Looked& look, const Tried& tried);

// A client whose call waits for its answer.
struct Waiting {
  ClientId client = 0;
  BootTime since;
  Caller caller = Caller::Other;
  bool for_plan = false;  // else it waits for health
};

// The daemon's knowledge. Each fact is kept only once.
struct AgentState {
  // The configuration in use. `config_error`: why the one on disk is invalid; empty: it is valid.
  Config config;
  std::string config_error, left_out;
  bool is_safe_subset = false;     // no valid configuration was read since the start
  bool config_unreadable = false;  // the last reading failed, which may pass
  BootTime started;
  TimeLimits limits;
  // The deadline that the last step asked for, and when a step last came seconds after it: the
  // machine was suspended, or other programs had the CPU. A call or look that was under way then
  // gets its whole limit again.
  std::optional<BootTime> deadline;
  BootTime resumed;

  // The newest look, when it began, and when the last look ended that saw the same; none: no look
  // has ended. Attempts are in its ledger, completed from `tried`.
  std::optional<Snapshot> snapshot;
  BootTime look_began, confirmed;
  // A look whose pass waits until the configuration is read, which may have changed before the
  // look.
  std::optional<Looked> held_look;
  // When a look was last asked for that has not ended; none: all looks have ended.
  std::optional<BootTime> look_asked;
  // When the next look is due at the latest; while a look is asked for, since when it is due.
  BootTime look_due;
  // Since when a look hangs in the kernel; none: no look is known to hang.
  std::optional<BootTime> look_stuck;
  BootTime look_checked;     // when this was last checked
  Milliseconds interval{0};  // between looks that no event asks for
  // When a look was last asked for by any user other than root and the agent's own.
  BootTime looked_for_others{Milliseconds{-3'600'000}};
  // The kernel's events: when the looks that they asked for no longer count against their limit;
  // whether an event has asked for a look since the last one ended; whether an event waits for the
  // limit.
  BootTime event_looks_until;
  bool event_look_asked = false, event_waits = false;

  // Facts that no look can tell; also the executor's call under way and a requested reload.
  History history;
  Tried tried;
  BootTime last_answer{};     // when the executor last answered
  std::vector<Action> queue;  // to be called after the call under way
  std::string last_refusal;   // why the last call was not carried out; empty: it was carried out
  // Limit of the wait for the executor's socket; none: connected before.
  std::optional<BootTime> patient_until;
  // The call whose connection failed, and when it is tried again.
  std::optional<Operation> repeated;
  BootTime repeat_at;
  // While the connection to the executor fails, the next call is made at this time.
  std::optional<BootTime> paused_until;
  Milliseconds last_pause{0};  // 0: the last connection succeeded

  // The conclusions.
  Plan plan;
  Health health;
  Timeline boot;
  bool ready_told = false;  // READY=1 was sent: network managers may start

  // Clients. A client that leaves is removed.
  std::vector<ClientId> watchers;
  std::vector<Waiting> fresh, refreshes, reloads;
};

// The answer to a client. Health and plan are those after the step.
struct Answer {
  enum class What { Health, HealthAndMore, Plan, PermissionDenied, NoSuchAdapter, InUse, Failed };
  ClientId client = 0;
  What what = What::Health;
  std::string text;               // the name of the method, the name of the adapter, or the reason
  std::vector<Holder> holders{};  // InUse
};

// The schedule of looks from now on, until the next Looks.
struct Looks {
  std::vector<std::string> modules;  // whose state a look reports
  Milliseconds interval{0};
  BootTime deliver_by;  // a look is handed over then even if it saw nothing new
};

// A call that the executor did not carry out, and did not log itself.
struct CallFailed {
  Operation operation;
  std::string why;
};

// The daemon carries them out in this order.
struct Effects {
  // To be logged besides the new health: a call that was not carried out; from how many files the
  // configuration was read; why the files are invalid, as before, when root asks to read them.
  std::optional<CallFailed> call_failed;
  std::optional<std::size_t> config_loaded;
  std::optional<std::string> config_rejected;
  // Health, plan and boot are new: report them to the journal and the service manager.
  bool concluded = false;
  bool ready = false;  // READY=1
  bool alive = false;  // WATCHDOG=1
  std::vector<Answer> answers;
  std::optional<Looks> looks;
  bool look = false;  // look as soon as possible, and once more where a look is under way
  std::optional<Operation> call;
  bool read_config = false;  // the event ConfigLoaded brings the result
  // When to send the event Deadline if no other event comes before; none: never.
  std::optional<BootTime> deadline;
};

struct Stepped {
  AgentState state;
  Effects effects;
};

// The daemon's first step: the first look is under way.
[[nodiscard]] Stepped first_step(const Start& start);

// `now` is never earlier than in the step before.
[[nodiscard]] Stepped step(AgentState state, const Event& event, BootTime now);

// Whether the event is worth recording. A question that changed nothing is not: every user can ask
// any number of them, and they must not evict useful events from the recording.
[[nodiscard]] bool tells_something(const Event& event, const Effects& effects);

// Health for clients: with the time of the last look, and with state `unknown` where that look is
// too old.
[[nodiscard]] Health health_at(const AgentState& state, BootTime now);

}  // namespace pvrdma
