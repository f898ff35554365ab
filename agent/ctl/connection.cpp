// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/codec/json.hpp"
#include "agent/ctl/text.hpp"
#include "agent/varlink/client.hpp"
#include "agent/varlink/interfaces.hpp"

namespace pvrdma::ctl {

namespace {

template <typename T>
Answered<WithJson<T>> read(Json parameters, const char* key,
                           Result<T> (*from)(const Json&, const Moment&)) {
  const auto found = parameters.find(key);
  if (found == parameters.end() || !found->is_object())
    return tl::unexpected(bad_answer("it holds no " + std::string{key}));
  auto value = from(*found, Moment::now());
  if (!value) return tl::unexpected(bad_answer(value.error().message()));
  return WithJson<T>{std::move(*value), std::move(*found)};
}

}  // namespace

NoAnswer no_answer(FindingId id, std::string_view variant, const Values& values) {
  Finding finding = make_finding(id, variant, values);
  return {to_string(finding.id), std::move(finding.summary), std::move(finding.remedy)};
}

NoAnswer bad_answer(const std::string& what) {
  return no_answer(FindingId::AgentBadAnswer, {}, {{"error", what}});
}

NoAnswer explain(const Error& error, const std::string& socket) {
  switch (error.code) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:  // unix(7): no process listens on the socket file
      return no_answer(FindingId::AgentNotRunning, {}, {{"socket", socket}});
    case EACCES:
    case EPERM:
      return no_answer(FindingId::AgentNotAccessible, {}, {{"socket", socket}});
    case ETIMEDOUT:
    case EAGAIN:  // unix(7): the backlog of the listening socket is full
      return no_answer(FindingId::AgentNotAnswering, "silent", {});
    case ECONNRESET:
    case EPIPE:
      return no_answer(FindingId::AgentNotAnswering, "hung-up", {});
    case EBADMSG:
    case EPROTO:
    case EMSGSIZE:
      return bad_answer(printable(error.message()));
    default:
      return no_answer(FindingId::AgentNotAnswering, "error",
                       {{"error", printable(error.message())}});
  }
}

Result<varlink::Reply> call_agent(const std::string& socket, const std::string& method,
                                  const std::optional<std::string>& adapter,
                                  Milliseconds connect_within, Milliseconds answer_within) {
  const BootTime deadline = BootClock::now() + answer_within;
  auto client = varlink::Client::connect(socket, connect_within);
  if (!client) return fail(client.error());
  Json parameters = Json::object();
  if (adapter) parameters["adapter"] = *adapter;
  return client->call("io.pvrdma.Agent." + method, parameters,
                      std::max(deadline - BootClock::now(), Milliseconds{1}));
}

Answered<Json> ask(const std::string& socket, const std::string& method, Milliseconds timeout) {
  auto reply = call_agent(socket, method, std::nullopt, timeout, timeout);
  if (!reply) return tl::unexpected(explain(reply.error(), socket));
  if (reply->error == varlink::kPermissionDenied)
    return tl::unexpected(
        NoAnswer{reply->error, "only root may ask for this", "Try the same with sudo"});
  if (!reply->error.empty()) return tl::unexpected(bad_answer(printable(reply->error)));
  return std::move(reply->parameters);
}

HealthResult ask_health(const std::string& socket, Milliseconds timeout) {
  return ask(socket, "GetHealth", timeout).and_then(health_in);
}

Answered<WithJson<Plan>> ask_plan(const std::string& socket, Milliseconds timeout) {
  return ask(socket, "GetPlan", timeout).and_then([](Json parameters) {
    return read<Plan>(std::move(parameters), "plan", codec::plan_from);
  });
}

HealthResult health_in(Json parameters) {
  return read<Health>(std::move(parameters), "health", codec::health_from);
}

WithJson<Health> with_json(Health health) {
  Json json = codec::to_json(health, BootClock::now());
  return {std::move(health), std::move(json)};
}

WithJson<Plan> with_json(Plan plan) {
  Json json = codec::to_json(plan, BootClock::now());
  return {std::move(plan), std::move(json)};
}

Finding finding_of(const NoAnswer& trouble) {
  Finding finding;
  finding.id = finding_id_from(trouble.id);
  finding.severity = Severity::Error;
  finding.summary = trouble.summary;
  finding.remedy = trouble.remedy;
  return finding;
}

WithJson<Health> unknown_health(const NoAnswer& trouble) {
  Health health;
  health.since = BootClock::now();
  health.summary = trouble.summary;
  health.findings = {finding_of(trouble)};
  return with_json(std::move(health));
}

WithJson<Plan> unknown_plan(const NoAnswer& trouble) {
  Plan plan;
  plan.findings = {finding_of(trouble)};
  return with_json(std::move(plan));
}

}  // namespace pvrdma::ctl
