#include "agent/daemon/agent_service.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/base/guarded.hpp"
#include "agent/codec/json.hpp"
#include "agent/varlink/message.hpp"
#include "build_config.hpp"

namespace pvrdma {

using varlink::CallPtr;
using varlink::Json;

namespace {

// Anybody may connect; the methods that change something ask for uid 0.
constexpr unsigned kSocketMode = 0666;

// A look at everything costs CPU that the agent has at a high priority: those who may not stop it
// either have one in this time, all together.
constexpr Milliseconds kBetweenLooksForOthers{1000};
constexpr std::uint64_t kTimerAccuracyUs = 10'000;

std::uint64_t to_us(BootTime time) { return static_cast<std::uint64_t>(to_ms(time)) * 1000U; }

// What changes something is root's alone.
bool may_change(const CallPtr& call, const char* method) {
  if (call->peer_uid() == 0) return true;
  call->error("io.pvrdma.Agent.PermissionDenied", {{"method", method}});
  return false;
}

// The parameter of methods that take one adapter, or none.
std::optional<std::string> adapter_of(const CallPtr& call) {
  const Json adapter = call->parameters().value("adapter", Json{});
  return adapter.is_string() ? std::optional{adapter.get<std::string>()} : std::nullopt;
}

void refuse_unknown(const CallPtr& call, const std::string& adapter) {
  call->error("io.pvrdma.Agent.NoSuchAdapter", {{"adapter", adapter}});
}

}  // namespace

KeptCalls::~KeptCalls() {
  for (const Kept& kept : kept_) kept.call->on_gone(nullptr);
}

void KeptCalls::add(const CallPtr& call, BootTime now) {
  kept_.push_back({call, now});
  // By its address: a callback that held the call would keep it alive.
  call->on_gone([this, gone = call.get()] {
    std::erase_if(kept_, [gone](const Kept& kept) { return kept.call.get() == gone; });
  });
}

std::vector<CallPtr> KeptCalls::all() const {
  std::vector<CallPtr> calls;
  calls.reserve(kept_.size());
  for (const Kept& kept : kept_) calls.push_back(kept.call);
  return calls;
}

std::vector<CallPtr> KeptCalls::take_until(BootTime time) {
  const auto end = std::find_if(kept_.begin(), kept_.end(),
                                [time](const Kept& kept) { return kept.since > time; });
  std::vector<CallPtr> taken;
  taken.reserve(static_cast<std::size_t>(end - kept_.begin()));
  for (auto kept = kept_.begin(); kept != end; ++kept) {
    kept->call->on_gone(nullptr);
    taken.push_back(std::move(kept->call));
  }
  kept_.erase(kept_.begin(), end);
  return taken;
}

AgentService::AgentService(sd_event* event, Daemon daemon)
    : event_(event),
      own_uid_(::geteuid()),
      daemon_(std::move(daemon)),
      service_(event, {"pvrdma-agent", "pvrdma-agent", PVRDMA_VERSION, ""}) {}

Result<void> AgentService::listen(const std::string& path) {
  const auto bound = [this](void (AgentService::*method)(const CallPtr&)) {
    return [this, method](CallPtr call) { (this->*method)(call); };
  };
  auto added = service_.add_interface(varlink::kAgentInterface,
                                      {{"GetHealth", bound(&AgentService::get_health)},
                                       {"WatchHealth", bound(&AgentService::watch_health)},
                                       {"GetPlan", bound(&AgentService::get_plan)},
                                       {"Refresh", bound(&AgentService::refresh)},
                                       {"Reload", bound(&AgentService::reload)},
                                       {"Acknowledge", bound(&AgentService::acknowledge)}});
  if (!added) return added;
  return service_.listen(path, kSocketMode);
}

std::string AgentService::health_text() const {
  return varlink::to_text(Json{{"health", codec::to_json(daemon_.health(), BootClock::now())}});
}

void AgentService::get_health(const CallPtr& call) { call->reply_text(health_text(), false); }

void AgentService::watch_health(const CallPtr& call) {
  call->reply_text(health_text(), call->wants_more());
  if (call->wants_more()) watchers_.add(call, BootClock::now());
}

void AgentService::get_plan(const CallPtr& call) {
  call->reply({{"plan", codec::to_json(daemon_.plan(), BootClock::now())}});
}

void AgentService::refresh(const CallPtr& call) {
  const BootTime now = BootClock::now();
  refreshes_.add(call, now);
  // Looking is free to all; what makes the agent act again is not.
  if (call->peer_uid() == 0 || call->peer_uid() == own_uid_)
    daemon_.refresh(call->peer_uid() == 0);
  else if (!timer_)
    look_for_others(now);
}

void AgentService::look_for_others(BootTime now) {
  const BootTime due = looked_for_others_ + kBetweenLooksForOthers;
  sd_event_source* source = nullptr;
  if (now < due && sd_event_add_time(event_, &source, CLOCK_BOOTTIME, to_us(due), kTimerAccuracyUs,
                                     on_look_due, this) >= 0)
    return timer_.reset(source);
  daemon_.refresh(false);
  // Only after it was asked for: the next one is asked for no earlier than a whole second later.
  looked_for_others_ = BootClock::now();
}

int AgentService::on_look_due(sd_event_source* source, std::uint64_t /*usec*/, void* self) {
  return guarded_callback(source, [&] {
    auto& service = *static_cast<AgentService*>(self);
    service.timer_.reset();
    // A look that somebody else asked for may have answered them all.
    if (!service.refreshes_.empty()) service.look_for_others(BootClock::now());
  });
}

void AgentService::reload(const CallPtr& call) {
  if (!may_change(call, "Reload")) return;
  if (const auto adapter = adapter_of(call); adapter && !daemon_.knows_adapter(*adapter))
    return refuse_unknown(call, *adapter);
  if (const std::string refusal = daemon_.reload(); !refusal.empty()) {
    call->error("io.pvrdma.Agent.Failed", {{"reason", refusal}});
    return;
  }
  reloads_.push_back(call);
}

void AgentService::acknowledge(const CallPtr& call) {
  if (!may_change(call, "Acknowledge")) return;
  const auto adapter = adapter_of(call);
  // Without a name there may be nothing to acknowledge.
  if (!daemon_.acknowledge(adapter) && adapter) return refuse_unknown(call, *adapter);
  call->reply_text(health_text(), false);
}

void AgentService::concluded(bool changed) {
  if (!changed || watchers_.empty()) return;
  const std::string text = health_text();
  for (const CallPtr& watcher : watchers_.all()) watcher->reply_text(text, true);
}

void AgentService::looked(BootTime began) {
  const auto calls = refreshes_.take_until(began);
  if (calls.empty()) return;
  const std::string text = health_text();
  for (const CallPtr& call : calls) call->reply_text(text, false);
}

void AgentService::reload_ended(const std::string& failure, const std::vector<Holder>& holders) {
  for (const CallPtr& call : std::exchange(reloads_, {})) {
    if (failure.empty())
      call->reply_text(health_text(), false);
    else if (!holders.empty())
      call->error("io.pvrdma.Agent.InUse", {{"holders", codec::to_json(holders)}});
    else
      call->error("io.pvrdma.Agent.Failed", {{"reason", failure}});
  }
}

}  // namespace pvrdma
