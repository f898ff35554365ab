#include "agent/ctl/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/ctl/text.hpp"
#include "agent/varlink/client.hpp"

namespace pvrdma::ctl {

namespace {

constexpr const char* kSeeStatus = "See: systemctl status pvrdma-agent";

Json finding_of(const NoAnswer& trouble) {
  return {{"id", trouble.id},         {"severity", "error"},
          {"adapter", nullptr},       {"summary", trouble.summary},
          {"remedy", trouble.remedy}, {"evidence", {{"holders", Json::array()}}}};
}

}  // namespace

NoAnswer bad_answer(const std::string& what) {
  return {"agent-bad-answer", "pvrdma-agent gave an answer that cannot be understood: " + what,
          "Is pvrdma-agentctl of the same version? systemctl status pvrdma-agent"};
}

NoAnswer explain(const Error& error, const std::string& socket) {
  switch (error.code) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:  // unix(7): a socket file that nobody listens on
      return {"agent-not-running", "pvrdma-agent is not running (nobody listens on " + socket + ")",
              kSeeStatus};
    case EACCES:
    case EPERM:
      return {"agent-not-accessible", "the socket of pvrdma-agent may not be opened: " + socket,
              "Anyone may by default; check the permissions of that file and its directory"};
    case ETIMEDOUT:
    case EAGAIN:  // unix(7): the backlog of the listening socket is full
      return {"agent-not-answering", "pvrdma-agent is running but does not answer", kSeeStatus};
    case ECONNRESET:
    case EPIPE:
      return {"agent-not-answering", "pvrdma-agent hung up without an answer", kSeeStatus};
    case EBADMSG:
    case EPROTO:
    case EMSGSIZE:
      return bad_answer(printable(error.message()));
    default:
      return {"agent-not-answering", "cannot talk to pvrdma-agent: " + printable(error.message()),
              kSeeStatus};
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
