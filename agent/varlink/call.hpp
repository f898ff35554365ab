// SPDX-License-Identifier: GPL-2.0-or-later
// Call: one request together with the connection it came by, from its arrival until its last reply.
//
// A handler may keep it and reply later. It outlives the connection safely (it holds it weakly):
// after the client has gone, replies do nothing. It answers at most once, and where its last holder
// drops it unanswered, the client gets an error.
#pragma once

#include <sys/types.h>

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
  void reply(const Json& parameters);                         // the last one
  // Where the client did not ask for more, this is the last reply: it would wait for no other.
  void reply_continues(const Json& parameters);
  // Like the two above for parameters already serialised, to share one text among many clients.
  void reply_text(std::string_view parameters, bool continues);
  void error(std::string_view name, const Json& parameters);  // "io.pvrdma.Agent.InUse"
  // Called once, from the loop, when the client leaves before the last reply. For who keeps calls.
  void on_gone(std::function<void()> callback) { on_gone_ = std::move(callback); }

  // The connection's part of on_gone().
  void client_has_gone();

 private:
  void send(std::string message, bool last);

  std::weak_ptr<Connection> connection_;
  uid_t peer_uid_;
  Request request_;
  std::function<void()> on_gone_;
  bool answered_ = false;
};
using CallPtr = std::shared_ptr<Call>;

}  // namespace pvrdma::varlink
