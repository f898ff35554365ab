// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/agent_service.hpp"

#include <malloc.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "agent/codec/json.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma {

using varlink::CallPtr;
using varlink::Json;

namespace {

// Every user may connect; the methods that change something require uid 0.
constexpr unsigned kSocketMode = 0666;

// The optional parameter `adapter` of a call.
std::optional<std::string> adapter_of(const CallPtr& call) {
  const Json adapter = call->parameters().value("adapter", Json{});
  return adapter.is_string() ? std::optional{adapter.get<std::string>()} : std::nullopt;
}

void tell_error(const CallPtr& call, const Answer& answer) {
  switch (answer.what) {
    case Answer::What::PermissionDenied:
      return call->error(varlink::kPermissionDenied, {{"method", answer.text}});
    case Answer::What::NoSuchAdapter:
      return call->error(varlink::kNoSuchAdapter, {{"adapter", answer.text}});
    case Answer::What::InUse:
      return call->error(varlink::kInUse, {{"holders", codec::to_json(answer.holders)}});
    default:
      return call->error(varlink::kReloadFailed, {{"reason", answer.text}});
  }
}

}  // namespace

AgentService::AgentService(sd_event* event, Post post, std::function<std::string()> recording)
    : own_uid_(::geteuid()),
      post_(std::move(post)),
      recording_(std::move(recording)),
      service_(event, "pvrdma-agent") {
  // The daemon trims after each look, of which the next one may come a minute after the crowd.
  service_.on_crowd_left([] { ::malloc_trim(0); });
}

ClientId AgentService::keep(const CallPtr& call) {
  const ClientId client = next_++;
  calls_.emplace(client, call);
  call->on_gone([this, client] {
    if (calls_.erase(client) > 0) post_(ClientLeft{client});
  });
  return client;
}

template <typename Question>
varlink::Handler AgentService::asks() {
  return [this](const CallPtr& call) {
    Question question;
    question.client = keep(call);
    if constexpr (requires { question.caller; })
      question.caller = caller_of(call->peer_uid(), own_uid_);
    if constexpr (requires { question.adapter; }) question.adapter = adapter_of(call);
    if constexpr (requires { question.more; }) question.more = call->wants_more();
    post_(std::move(question));
  };
}

Result<void> AgentService::listen(const std::string& path) {
  auto added = service_.add_interface(
      varlink::kAgentInterface,
      {{"GetHealth", asks<HealthAsked>()},
       {"WatchHealth", asks<WatchAsked>()},
       {"GetPlan", asks<PlanAsked>()},
       {"Refresh", asks<RefreshAsked>()},
       {"Reload", asks<ReloadAsked>()},
       {"Acknowledge", asks<AcknowledgeAsked>()},
       {"GetRecording", [this](const CallPtr& call) { tell_recording(call); }}});
  if (!added) return added;
  return service_.listen(path, kSocketMode);
}

// The recording is large, so only users who could also stop the daemon get it.
void AgentService::tell_recording(const CallPtr& call) const {
  if (caller_of(call->peer_uid(), own_uid_) == Caller::Other)
    return call->error(varlink::kPermissionDenied, {{"method", "GetRecording"}});
  call->reply_text("{\"recording\":" + recording_() + "}", false);
}

void AgentService::tell(const std::vector<Answer>& answers, const AgentState& state, BootTime now) {
  std::string health;
  for (const Answer& answer : answers) {
    const auto found = calls_.find(answer.client);
    if (found == calls_.end()) continue;
    // A copy, as sending may find that the client has left, which removes the call from the map.
    const CallPtr call = found->second;
    const bool more = answer.what == Answer::What::HealthAndMore;
    if (!more) {
      call->on_gone(nullptr);
      calls_.erase(found);
    } else if (call->lags()) {
      // The watches of one user could fill the agent's memory. A watcher that has read the answer
      // before the last stays, so neither a long answer nor two in a row end the watch.
      call->disconnect();
      continue;
    }
    if (answer.what == Answer::What::Plan) {
      call->reply({{"plan", codec::to_json(state.plan, now)}});
    } else if (more || answer.what == Answer::What::Health) {
      if (health.empty())
        health = varlink::to_text(Json{{"health", codec::to_json(health_at(state, now), now)}});
      call->reply_text(health, more);
    } else {
      tell_error(call, answer);
    }
  }
}

}  // namespace pvrdma
