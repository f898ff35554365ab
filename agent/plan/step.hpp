// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon's whole behaviour as one pure function: what has happened, and what is known, give
// what is known now and what is to be done.
//
// agent/daemon is the shell around it: its sources make events, its one timer carries the deadline,
// and it carries the effects out in the order of Effects' members. Nothing here blocks, reads a
// clock or calls anything; the same events at the same times give the same effects, so a recording
// (agent/codec/recording.hpp) tells afterwards why something was done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/model/config.hpp"
#include "agent/model/event.hpp"
#include "agent/model/health.hpp"
#include "agent/model/timeline.hpp"
#include "agent/plan/history.hpp"
#include "agent/plan/tried.hpp"

namespace pvrdma {

// A client whose call waits for its answer.
struct Waiting {
  ClientId client = 0;
  BootTime since;
  Caller caller = Caller::Other;
  bool for_plan = false;  // else for health
};

// What the daemon knows. Each fact has one place here.
struct AgentState {
  // The configuration in force. `config_error`: why that on disk is not good; empty: it is.
  Config config;
  std::string config_error, left_out;
  bool is_safe_subset = false;  // none that is good has been read since the start
  BootTime started;
  Limits limits;

  // The newest look, when it began, and when the last one ended that saw the same; none: no look
  // has ended. What was tried is in its ledger, completed by `tried`.
  std::optional<Snapshot> snapshot;
  BootTime look_began, confirmed;
  // A look that waits for the configuration to be read, as that may have changed before it.
  std::optional<Looked> held_look;
  // When a look was asked for last that has not come; none: all have.
  std::optional<BootTime> look_asked;
  // When the next look is due at the latest; while one is asked for, since when that one is due.
  BootTime look_due;
  // Since when a look has not come back from the kernel; none: none hangs, as far as is known.
  std::optional<BootTime> look_stuck;
  BootTime look_checked;     // when that was last found out
  Milliseconds interval{0};  // between looks that are not asked for
  // When a look was last asked for by those whom the daemon need not trust, all together.
  BootTime looked_for_others{Milliseconds{-3'600'000}};

  // What no look can tell, the executor's call under way and a requested reload among it.
  History history;
  Tried tried;
  BootTime last_answer{};                 // of the executor
  std::vector<Action> queue;              // to be asked for after the call under way
  std::string last_refusal;               // why the last call was not carried out; empty: it was
  std::optional<BootTime> patient_until;  // for the executor's socket; none: it was connected to
  // The call under way, which could not be connected, and when it is tried again.
  std::optional<Operation> repeated;
  BootTime repeat_at;
  // Where the executor cannot be connected to, nothing is asked of it until then.
  std::optional<BootTime> paused_until;
  Milliseconds last_pause{0};  // none since it was connected to

  // What was concluded.
  Plan plan;
  Health health;
  Timeline boot;
  bool ready_told = false;  // network managers may start

  // Clients. One that leaves is forgotten.
  std::vector<ClientId> watchers;
  std::vector<Waiting> fresh, refreshes, reloads;
};

// What a client is told. Health and plan are those after the step.
struct Answer {
  enum class What { Health, HealthAndMore, Plan, PermissionDenied, NoSuchAdapter, InUse, Failed };
  ClientId client = 0;
  What what = What::Health;
  std::string text;               // the method, the adapter or the reason
  std::vector<Holder> holders{};  // InUse
};

// How the system is looked at from now on, until the next Looks.
struct Looks {
  std::vector<std::string> modules;  // to report
  Milliseconds interval{0};
  BootTime deliver_by;  // a look is handed over then, though it may see nothing new
};

// The executor's call was not carried out, and it has logged nothing of that itself.
struct CallFailed {
  Operation operation;
  std::string why;
};

// To be carried out in this order.
struct Effects {
  // What is to be logged beside the new health: why the executor's call was not carried out; how
  // many files the configuration was read from; why they are not good.
  std::optional<CallFailed> call_failed;
  std::optional<std::size_t> config_loaded;
  std::optional<std::string> config_rejected;
  // Health, plan and boot are new: told to the journal and the service manager. At most once.
  bool concluded = false;
  bool state_changed = false;  // of health
  bool ready = false;          // READY=1
  bool alive = false;          // WATCHDOG=1
  std::vector<Answer> answers;
  std::optional<Looks> looks;
  bool look = false;  // as soon as possible, once more where one is under way
  std::optional<Operation> call;
  bool read_config = false;  // and tell by ConfigLoaded
  // When to come again, with Deadline where nothing else happens; none: only events matter.
  std::optional<BootTime> deadline;
};

struct Stepped {
  AgentState state;
  Effects effects;
};

// What a daemon begins with: the first look, which is not asked for but under way.
[[nodiscard]] Stepped first_step(const Start& start);

// `now` is never earlier than that of the step before.
[[nodiscard]] Stepped step(AgentState state, const Event& event, BootTime now);

// Whether the event is worth recording: a question that changed nothing is not, as every user can
// ask any number of these, and they must not take the place of events that tell something.
[[nodiscard]] bool tells_something(const Event& event, const Effects& effects);

// As it is told to clients: with the age of what was seen, and as unknown where that is too old.
[[nodiscard]] Health health_at(const AgentState& state, BootTime now);

}  // namespace pvrdma
