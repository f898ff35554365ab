// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/call.hpp"

#include "agent/base/guarded.hpp"
#include "agent/varlink/connection.hpp"

namespace pvrdma::varlink {

Call::Call(std::weak_ptr<Connection> connection, uid_t peer_uid, Request request)
    : connection_(std::move(connection)), peer_uid_(peer_uid), request_(std::move(request)) {}

Call::~Call() {
  if (answered_) return;
  const auto answer = [this] {
    error("org.varlink.service.MethodNotImplemented", {{"method", request_.method}});
  };
  if (guarded(answer) >= 0) return;
  // Without memory for an answer the connection is closed, which tells the client enough.
  disconnect();
}

bool Call::gone() const {
  const auto connection = connection_.lock();
  return !connection || connection->gone();
}

bool Call::lags() const {
  const auto connection = connection_.lock();
  return connection && connection->lags_behind(last_bytes_);
}

void Call::disconnect() {
  if (const auto connection = connection_.lock()) connection->close();
}

void Call::reply(const Json& parameters) { reply_text(to_text(parameters), false); }

void Call::reply_continues(const Json& parameters) { reply_text(to_text(parameters), true); }

void Call::reply_text(std::string_view parameters, bool continues) {
  const bool more_to_come = continues && request_.more;
  send(reply_message(parameters, more_to_come), !more_to_come);
}

void Call::error(std::string_view name, const Json& parameters) {
  send(error_message(name, parameters), true);
}

void Call::send(std::string message, bool last) {
  if (answered_) return;
  answered_ = last;
  last_bytes_ = message.size();
  const auto connection = connection_.lock();
  if (!connection) return;
  if (!request_.oneway) connection->send(message);
  if (last) connection->call_answered();
}

void Call::client_has_gone() {
  // The callback may destroy this call.
  if (const auto callback = std::exchange(on_gone_, nullptr); callback && !answered_) callback();
}

}  // namespace pvrdma::varlink
