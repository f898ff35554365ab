// SPDX-License-Identifier: GPL-2.0-or-later
// Varlink clients: a blocking one with a deadline on every wait, for the command line, and one on
// an sd-event loop, for the daemon, which must never block.
#pragma once

#include <systemd/sd-event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/base/timer.hpp"
#include "agent/varlink/closing.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

// Replies longer than this are refused (EMSGSIZE). The agent sends no more at once
// (Limits::output_bytes), and has room for ten adapters many times over.
inline constexpr std::size_t kReplyLimitBytes = 1U << 20U;

// The blocking client; a deadline limits every wait. Errors: ETIMEDOUT for a time-out, ECONNRESET
// where the server closes the connection, EBADMSG for a message that is no reply, EPROTO for one
// with a passed descriptor.
class Client {
 public:
  // EAGAIN: the server's queue was full until the time-out.
  [[nodiscard]] static Result<Client> connect(const std::string& path, Milliseconds timeout);
  // `socket` is a connected stream socket.
  explicit Client(PeerSocket socket);
  // Makes one call and waits for one reply. After an Error the connection is closed; later calls
  // get ENOTCONN.
  [[nodiscard]] Result<Reply> call(const std::string& method, const Json& parameters,
                                   Milliseconds timeout);
  // A call with `more`; next() then yields its replies one by one.
  [[nodiscard]] Result<void> start_stream(const std::string& method, const Json& parameters);
  // May be called again after ETIMEDOUT.
  [[nodiscard]] Result<Reply> next(Milliseconds timeout);

 private:
  [[nodiscard]] Result<void> send(std::string_view message, BootTime deadline);
  PeerSocket
      socket_;  // empty after a failed call, as a late reply would be taken for the next call's
  Decoder input_;
};

// The client on an sd-event loop: one call at a time, one connection for each call.
class AsyncClient {
 public:
  using Done = std::function<void(Result<Reply>)>;
  // `event` must outlive the client.
  AsyncClient(sd_event* event, std::string path) : event_(event), path_(std::move(path)) {}
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  // `done` is called exactly once, from the loop, never from within call(): with the reply, or with
  // the Error of connecting, sending or receiving. There is no time limit: a call that is stuck in
  // the kernel cannot be cancelled, so the caller watches the time. Not while busy().
  void call(const std::string& method, const Json& parameters, Done done);
  [[nodiscard]] bool busy() const { return pending_ != nullptr; }
  // Whether the connection of the last call succeeded; if not, nothing was sent.
  [[nodiscard]] bool connected() const { return connected_; }

 private:
  [[nodiscard]] Result<void> start(std::string message);
  // The work of the loop's callbacks; read() yields none while the reply is incomplete.
  [[nodiscard]] Result<void> write();
  [[nodiscard]] Result<std::optional<Reply>> read();
  void go_on();
  void finish(Result<Reply> reply);
  static int on_io(sd_event_source* source, int fd, std::uint32_t events, void* self);
  static int on_failure(sd_event_source* source, void* self);

  sd_event* event_;
  std::string path_;
  Done pending_;  // of the call under way; empty: no call is under way
  bool connected_ = false;
  PeerSocket socket_;
  EventSource io_;
  std::string output_;
  Decoder input_{kReplyLimitBytes};
  Error failure_;       // of start()
  EventSource report_;  // tells it from the loop's next round
};

}  // namespace pvrdma::varlink
