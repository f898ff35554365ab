#include "agent/varlink/call.hpp"

#include <utility>

#include "agent/base/guarded.hpp"

namespace pvrdma::varlink {

ConnectedCall::ConnectedCall(std::weak_ptr<Connection> connection, uid_t peer_uid, Request request)
    : connection_(std::move(connection)), peer_uid_(peer_uid), request_(std::move(request)) {}

ConnectedCall::~ConnectedCall() {
  if (answered_) return;
  const auto answer = [this] {
    ConnectedCall::error("org.varlink.service.MethodNotImplemented", {{"method", request_.method}});
  };
  if (guarded(answer) >= 0) return;
  // Without memory for an answer, hanging up tells as much.
  if (const auto connection = connection_.lock()) connection->close();
}

bool ConnectedCall::gone() const {
  const auto connection = connection_.lock();
  return !connection || connection->gone();
}

void ConnectedCall::reply(const Json& parameters) { reply_text(to_text(parameters), false); }

void ConnectedCall::reply_continues(const Json& parameters) {
  reply_text(to_text(parameters), true);
}

void ConnectedCall::reply_text(std::string_view parameters, bool continues) {
  const bool more_to_come = continues && request_.more;
  send(reply_message(parameters, more_to_come), !more_to_come);
}

void ConnectedCall::error(std::string_view name, const Json& parameters) {
  send(error_message(name, parameters), true);
}

void ConnectedCall::send(std::string message, bool last) {
  if (answered_) return;
  answered_ = last;
  const auto connection = connection_.lock();
  if (!connection) return;
  if (!request_.oneway) connection->send(message);
  if (last) connection->call_answered();
}

void ConnectedCall::client_has_gone() {
  // It may let go of this call.
  if (const auto callback = std::exchange(on_gone_, nullptr); callback && !answered_) callback();
}

}  // namespace pvrdma::varlink
