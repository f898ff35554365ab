// SPDX-License-Identifier: GPL-2.0-or-later
// Call: one request and its connection, from the request's arrival until its last reply.
//
// A handler may keep a call and reply later. A call may outlive its connection: after the client
// has gone, replies do nothing. A call is answered at most once; if its last owner drops it
// unanswered, the client gets an error.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

class Connection;

class Call {
 public:
  Call(std::weak_ptr<Connection> connection, uid_t peer_uid, Request request);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // "io.pvrdma.Agent.GetHealth"
  [[nodiscard]] const std::string& method() const { return request_.method; }
  [[nodiscard]] const Json& parameters() const { return request_.parameters; }  // always an object
  [[nodiscard]] bool wants_more() const { return request_.more; }
  [[nodiscard]] uid_t peer_uid() const { return peer_uid_; }  // SO_PEERCRED, unix(7)
  [[nodiscard]] bool gone() const;                            // the client has left
  // Whether the client has left more unread than the last reply, however long, and replies to its
  // earlier requests (kOutputPauseBytes in connection.cpp).
  [[nodiscard]] bool lags() const;
  void reply(const Json& parameters);  // the last reply
  // Where the client did not ask for `more`, this is the last reply, as the client expects no
  // other.
  void reply_continues(const Json& parameters);
  // Like the two above, but with serialised parameters, so that many clients can get the same text.
  void reply_text(std::string_view parameters, bool continues);
  void error(std::string_view name, const Json& parameters);  // "io.pvrdma.Agent.InUse"
  // Closes the client's connection, and calls on_gone().
  void disconnect();
  // `callback` is called once, from the loop, when the client leaves before the last reply.
  void on_gone(std::function<void()> callback) { on_gone_ = std::move(callback); }

  // The connection calls this for on_gone().
  void client_has_gone();

 private:
  void send(std::string message, bool last);

  std::weak_ptr<Connection> connection_;
  uid_t peer_uid_;
  Request request_;
  std::function<void()> on_gone_;
  bool answered_ = false;
  std::size_t last_bytes_ = 0;  // of the last reply
};
using CallPtr = std::shared_ptr<Call>;

}  // namespace pvrdma::varlink
