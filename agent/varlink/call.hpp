// ConnectedCall: a request together with the connection it came by.
//
// It outlives the connection safely (it holds it weakly), answers at most once, and answers with an
// error of its own where its last holder drops it unanswered.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "agent/varlink/connection.hpp"
#include "agent/varlink/message.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma::varlink {

class ConnectedCall final : public Call {
 public:
  ConnectedCall(std::weak_ptr<Connection> connection, uid_t peer_uid, Request request);
  ~ConnectedCall() override;
  ConnectedCall(const ConnectedCall&) = delete;
  ConnectedCall& operator=(const ConnectedCall&) = delete;
  ConnectedCall(ConnectedCall&&) = delete;
  ConnectedCall& operator=(ConnectedCall&&) = delete;

  [[nodiscard]] const std::string& method() const override { return request_.method; }
  [[nodiscard]] const Json& parameters() const override { return request_.parameters; }
  [[nodiscard]] bool wants_more() const override { return request_.more; }
  [[nodiscard]] uid_t peer_uid() const override { return peer_uid_; }
  [[nodiscard]] bool gone() const override;
  void reply(const Json& parameters) override;
  // Where the client did not ask for more, this is the last reply: it would wait for no other.
  void reply_continues(const Json& parameters) override;
  void reply_text(std::string_view parameters, bool continues) override;
  void error(std::string_view name, const Json& parameters) override;
  void on_gone(std::function<void()> callback) override { on_gone_ = std::move(callback); }

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

}  // namespace pvrdma::varlink
