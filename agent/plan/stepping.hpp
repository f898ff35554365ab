// SPDX-License-Identifier: GPL-2.0-or-later
// One step under way: the parts of step(), in several files by topic.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/plan/step.hpp"

namespace pvrdma {

// A client gets the last look if it is younger than kFresh. Otherwise the answer waits for a look,
// for kFreshPatience at most.
inline constexpr Milliseconds kFresh{2'000};
inline constexpr Milliseconds kFreshPatience{400};

class Stepping {
 public:
  Stepping(AgentState& state, Effects& effects, BootTime now) : s_(state), e_(effects), now_(now) {}

  // step_asked.cpp: clients
  void on(const HealthAsked& asked) { ask_fresh({asked.client, now_, asked.caller, false}); }
  void on(const PlanAsked& asked) { ask_fresh({asked.client, now_, asked.caller, true}); }
  void on(const WatchAsked& asked);
  void on(const RefreshAsked& asked);
  void on(const ReloadAsked& asked);
  void on(const AcknowledgeAsked& asked);
  void on(const ClientLeft& left);
  // step_looks.cpp: looks and their passes
  void on(const Looked& looked);
  void on(const LookedSame& looked);
  void on(const KernelChanged& changed);
  void on(const ConfigLoaded& loaded);
  void on(const Deadline& deadline);
  // step_calls.cpp: the executor
  void on(const CallEnded& ended);
  void on(const ExecutorUnreachable& unreachable);

  // Comes before the event.
  void note_resumption();
  // Does everything that is due by now.
  void expire();
  // Publishes the new conclusions, and sets the deadline.
  void finish();
  void schedule_looks(bool changed);

 private:
  // step.cpp. `before`: the look before the newest; null where the newest is the first.
  // conclude_again() is for changes without a new look.
  void conclude(const Snapshot* before);
  void conclude_again();
  void say_ready();
  void next_by(BootTime when);

  // step_asked.cpp
  void answer(ClientId client, Answer::What what, std::string text = {},
              std::vector<Holder> holders = {});
  // With the plan where the client waits for that, else with health.
  void answer_waiting(const Waiting& waiting);
  // Answers those of the list that are due, and removes them.
  void answer_due(std::vector<Waiting>& list, const std::function<bool(const Waiting&)>& is_due);
  void ask_fresh(const Waiting& asking);
  void refresh(const Waiting& waiting);
  [[nodiscard]] bool may_change(ClientId client, Caller caller, const char* method);
  [[nodiscard]] std::string reload_refusal() const;
  void settle_reload(BootTime look_began);
  void end_reload(const std::string& failure, const std::vector<Holder>& holders);
  [[nodiscard]] bool reload_has_begun() const;
  void expire_reloads();
  void expire_clients();
  void plan_client_deadlines();

  // step_looks.cpp
  void pass(Looked look);
  void ask_look();
  [[nodiscard]] bool look_for(Caller caller);
  [[nodiscard]] bool others_wait() const;
  void look_for_others();
  [[nodiscard]] BootTime next_event_look() const;
  void look_for_events();
  [[nodiscard]] bool reads_config_again() const;
  [[nodiscard]] bool config_may_be_old(const Snapshot& seen) const;
  [[nodiscard]] bool is_pending() const;
  void expire_looks();
  void plan_look_deadlines();

  // step_calls.cpp
  void carry_out();
  void call_next();
  void keep_planned();
  void remember(Ledger& ledger, const Operation& operation, const OperationResult& result);
  void pause();
  void expire_call();
  void plan_call_deadlines();

  AgentState& s_;
  Effects& e_;
  BootTime now_;
  std::optional<Health> before_;  // the health before this step, once there is a new one
};

}  // namespace pvrdma
