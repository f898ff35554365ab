// SPDX-License-Identifier: GPL-2.0-or-later
// step(): the requests of clients, and when each gets its answer.
#include <algorithm>
#include <utility>

#include "agent/plan/reload_policy.hpp"
#include "agent/plan/stepping.hpp"

namespace pvrdma {

namespace {

constexpr const char* kNoAdapter = "this VM has no PVRDMA adapter";
constexpr const char* kTooLong = "the driver did not come to a state in which it can be reloaded";

// Why a reload has not begun in time; the first finding is the likely reason.
std::string too_long(const Plan& plan) {
  const auto& findings = plan.findings;
  return findings.empty() ? kTooLong : kTooLong + (": " + findings.front().summary);
}

// Null: the adapters are not known, or not yet.
const std::vector<Adapter>* adapters_of(const AgentState& state) {
  return state.snapshot ? state.snapshot->adapters.get() : nullptr;
}

bool has_no_adapter(const AgentState& state) {
  const auto* adapters = adapters_of(state);
  return adapters != nullptr && adapters->empty();
}

}  // namespace

void Stepping::answer(ClientId client, Answer::What what, std::string text,
                      std::vector<Holder> holders) {
  e_.answers.push_back({client, what, std::move(text), std::move(holders)});
}

void Stepping::answer_waiting(const Waiting& waiting) {
  answer(waiting.client, waiting.for_plan ? Answer::What::Plan : Answer::What::Health);
}

void Stepping::answer_due(std::vector<Waiting>& list,
                          const std::function<bool(const Waiting&)>& is_due) {
  std::erase_if(list, [&](const Waiting& waiting) {
    const bool due = is_due(waiting);
    if (due) answer_waiting(waiting);
    return due;
  });
}

// Only root may change something.
bool Stepping::may_change(ClientId client, Caller caller, const char* method) {
  if (caller == Caller::Root) return true;
  answer(client, Answer::What::PermissionDenied, method);
  return false;
}

void Stepping::on(const WatchAsked& asked) {
  answer(asked.client, asked.more ? Answer::What::HealthAndMore : Answer::What::Health);
  if (asked.more) s_.watchers.push_back(asked.client);
}

void Stepping::on(const RefreshAsked& asked) {
  // Every user may ask for a look, but only root's request makes the daemon try again.
  if (asked.caller == Caller::Root) s_.history.fresh_start = now_;
  refresh({asked.client, now_, asked.caller});
}

// The answer comes with the first look that begins from now on.
void Stepping::refresh(const Waiting& waiting) {
  s_.refreshes.push_back(waiting);
  if (waiting.caller == Caller::Other) return look_for_others();
  ask_look();
}

// Why a reload cannot start, as far as it is known before the next look; empty: no reason yet. The
// next look, or the time limit, decides the rest.
std::string Stepping::reload_refusal() const {
  if (s_.history.busy) return describe(s_.history.busy->operation) + " is still under way";
  if (s_.is_safe_subset)
    return "the configuration is invalid (see the finding config-bad); nothing is reloaded until "
           "it is valid";
  if (s_.config.modules.reload == ReloadPolicy::Never)
    return "modules.reload is \"never\" in the configuration";
  return has_no_adapter(s_) ? kNoAdapter : "";
}

void Stepping::on(const ReloadAsked& asked) {
  if (!may_change(asked.client, asked.caller, "Reload")) return;
  const auto* adapters = adapters_of(s_);
  if (asked.adapter && adapters != nullptr &&
      std::none_of(adapters->begin(), adapters->end(),
                   [&](const Adapter& adapter) { return is_called(adapter, *asked.adapter); }))
    return answer(asked.client, Answer::What::NoSuchAdapter, *asked.adapter);
  if (std::string refusal = reload_refusal(); !refusal.empty())
    return answer(asked.client, Answer::What::Failed, std::move(refusal));
  s_.reloads.push_back({asked.client, now_, asked.caller});
  s_.history.reload_asked = s_.history.fresh_start = now_;
  ask_look();
}

bool Stepping::reload_has_begun() const {
  return s_.history.busy && takes_driver_away(s_.history.busy->operation);
}

// A requested reload is started by a plan, refused by a finding, or given up after its limit. It is
// not kept for later, when no client expects it any more. A planned reload has not started: the
// calls to the executor may be paused. Only looks that began after the request count, as earlier
// holders may be gone.
void Stepping::settle_reload(BootTime look_began) {
  if (!s_.history.reload_asked || look_began < *s_.history.reload_asked || reload_has_begun())
    return;
  if (has_no_adapter(s_)) return end_reload(kNoAdapter, {});
  const auto refusal = requested_reload({s_.config, *s_.snapshot, s_.history, now_}).refusal;
  if (refusal) end_reload(refusal->summary, refusal->holders);
}

// `failure` empty: the reload is done. As the newest look may have seen the driver away, the
// clients then wait for the next one.
void Stepping::end_reload(const std::string& failure, const std::vector<Holder>& holders) {
  s_.history.reload_asked.reset();
  for (const Waiting& waiting : std::exchange(s_.reloads, {})) {
    if (failure.empty())
      refresh({waiting.client, now_, waiting.caller});
    else if (!holders.empty())
      answer(waiting.client, Answer::What::InUse, failure, holders);
    else
      answer(waiting.client, Answer::What::Failed, failure);
  }
}

void Stepping::expire_reloads() {
  if (reload_has_begun()) return;
  const BootTime too_old = now_ - s_.limits.reload;
  std::erase_if(s_.reloads, [&](const Waiting& waiting) {
    if (waiting.since > too_old) return false;
    answer(waiting.client, Answer::What::Failed, too_long(s_.plan));
    return true;
  });
  if (!s_.history.reload_asked || *s_.history.reload_asked > too_old) return;
  end_reload(too_long(s_.plan), {});
  // The reload no longer follows by itself, so the findings must no longer say so.
  conclude_again();
}

void Stepping::on(const AcknowledgeAsked& asked) {
  if (!may_change(asked.client, asked.caller, "Acknowledge")) return;
  const auto& name = asked.adapter;
  const auto gone = std::erase_if(s_.history.removed, [&](const RemovedAdapter& removed) {
    return !name || removed.function == *name || removed.mac == *name || removed.netdev == *name;
  });
  conclude_again();
  // Without a name it is no error if there is nothing to acknowledge.
  if (gone == 0 && name) return answer(asked.client, Answer::What::NoSuchAdapter, *name);
  answer(asked.client, Answer::What::Health);
}

void Stepping::on(const ClientLeft& left) {
  const auto is_gone = [&](const Waiting& waiting) { return waiting.client == left.client; };
  std::erase(s_.watchers, left.client);
  for (auto* list : {&s_.fresh, &s_.refreshes, &s_.reloads}) std::erase_if(*list, is_gone);
}

void Stepping::expire_clients() {
  expire_reloads();
  // Another look would not end sooner than the one that hangs, which the health names. Where none
  // hangs, this time is enough for the look under way and the next: a look that is still missing
  // has not begun.
  answer_due(s_.refreshes, [&](const Waiting& waiting) {
    return s_.look_stuck || now_ >= waiting.since + 2 * s_.limits.look;
  });
  answer_due(s_.fresh,
             [&](const Waiting& waiting) { return now_ >= waiting.since + kFreshPatience; });
}

void Stepping::plan_client_deadlines() {
  for (const Waiting& waiting : s_.fresh) next_by(waiting.since + kFreshPatience);
  for (const Waiting& waiting : s_.refreshes) next_by(waiting.since + 2 * s_.limits.look);
  if (!reload_has_begun()) {
    for (const Waiting& waiting : s_.reloads) next_by(waiting.since + s_.limits.reload);
    if (s_.history.reload_asked) next_by(*s_.history.reload_asked + s_.limits.reload);
  }
}

}  // namespace pvrdma
