#include "agent/ctl/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/ctl/text.hpp"
#include "agent/varlink/client.hpp"
#include "agent/varlink/json.hpp"

namespace pvrdma::ctl {

namespace {

Json finding_of(const NoAnswer& trouble) {
  Finding finding;
  finding.id = finding_id_from(trouble.id);
  finding.severity = Severity::Error;
  finding.summary = trouble.summary;
  finding.remedy = trouble.remedy;
  return varlink::to_json(finding);
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
    case ECONNREFUSED:  // unix(7): a socket file that nobody listens on
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

Answered<Json> member(Json parameters, const char* key) {
  const auto found = parameters.find(key);
  if (found == parameters.end() || !found->is_object())
    return tl::unexpected(bad_answer("it holds no " + std::string{key}));
  return std::move(*found);
}

Answered<Json> ask(const std::string& socket, const std::string& method, const char* key,
                   Milliseconds timeout) {
  const BootTime deadline = BootClock::now() + timeout;
  auto client = varlink::Client::connect(socket, timeout);
  if (!client) return tl::unexpected(explain(client.error(), socket));
  auto reply = client->call("io.pvrdma.Agent." + method, Json::object(),
                            std::max(deadline - BootClock::now(), Milliseconds{1}));
  if (!reply) return tl::unexpected(explain(reply.error(), socket));
  if (!reply->error.empty()) return tl::unexpected(bad_answer(printable(reply->error)));
  return member(std::move(reply->parameters), key);
}

Json unknown_health(const NoAnswer& trouble) {
  return {{"version", 1},
          {"state", "unknown"},
          {"since", wall_time(BootClock::now())},
          {"observed_ms_ago", nullptr},
          {"summary", trouble.summary},
          {"adapters", Json::array()},
          {"findings", Json::array({finding_of(trouble)})},
          {"executor", {{"busy", nullptr}, {"reloads", 0}, {"rebinds", 0}}}};
}

Json unknown_plan(const NoAnswer& trouble) {
  return {{"actions", Json::array()},
          {"findings", Json::array({finding_of(trouble)})},
          {"next_look_in_ms", nullptr}};
}

}  // namespace pvrdma::ctl
