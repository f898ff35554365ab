// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/client.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "agent/base/guarded.hpp"

namespace pvrdma::varlink {

namespace {

// Sending a request to a server that does not read has this limit, even where the wait for replies
// has none.
constexpr Milliseconds kSendTimeout = std::chrono::seconds{5};

BootTime after(Milliseconds timeout) { return BootClock::now() + timeout; }

// A server may be an attacker, too: each close of its descriptors would wait here.
PeerSocket client_socket(int flags) {
  PeerSocket socket{Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)}};
  allow_descriptors(socket.fd(), false);
  keep_urgent_bytes(socket.fd());
  return socket;
}

// EAGAIN where the server's queue is full; on a blocking socket after its send time-out.
Result<void> connect_to(int socket, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG, "connecting to", path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  while (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    if (errno != EINTR) return fail(errno, "connecting to", path);
  return {};
}

}  // namespace

Client::Client(PeerSocket socket) : socket_(std::move(socket)), input_(kReplyLimitBytes) {}

Result<Client> Client::connect(const std::string& path, Milliseconds timeout) {
  PeerSocket socket = client_socket(0);
  if (!socket) return fail(errno, "making", "a socket");
  // connect(2) on AF_UNIX waits while the server's queue is full; SO_SNDTIMEO is the only limit for
  // that. Zero would mean no limit.
  const auto us = std::chrono::microseconds{std::max(timeout, Milliseconds{1})}.count();
  const timeval bound{us / 1'000'000, us % 1'000'000};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound) != 0)
    return fail(errno, "preparing to connect to", path);
  if (auto connected = connect_to(socket.get(), path); !connected)
    return fail(std::move(connected.error()));
  return Client{std::move(socket)};
}

Result<Reply> Client::call(const std::string& method, const Json& parameters,
                           Milliseconds timeout) {
  const BootTime deadline = after(timeout);
  auto sent = send(call_message(method, parameters, /*more=*/false), deadline);
  auto reply = sent ? next(std::max(deadline - BootClock::now(), Milliseconds{0}))
                    : Result<Reply>{fail(std::move(sent.error()))};
  if (!reply) socket_ = PeerSocket{};
  return reply;
}

Result<void> Client::start_stream(const std::string& method, const Json& parameters) {
  return send(call_message(method, parameters, /*more=*/true), after(kSendTimeout));
}

Result<void> Client::send(std::string_view message, BootTime deadline) {
  if (!socket_) return fail(ENOTCONN, "calling", "the agent");
  while (!message.empty()) {
    const ssize_t put =
        ::send(socket_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
      message.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EPIPE) {
      return fail(ECONNRESET, "calling", "the agent");
    } else if (errno == EAGAIN) {
      if (const int code = poll_until(socket_.get(), POLLOUT, deadline))
        return fail(code, "calling", "the agent");
    } else if (errno != EINTR) {
      return fail(errno, "calling", "the agent");
    }
  }
  return {};
}

Result<Reply> Client::next(Milliseconds timeout) {
  if (!socket_) return fail(ENOTCONN, "waiting for", "the agent");
  const BootTime deadline = after(timeout);
  for (;;) {
    const auto message = input_.next();
    if (!message) return fail(message.error());
    if (*message) return reply_from(**message);
    if (const int code = poll_until(socket_.get(), POLLIN, deadline))
      return fail(code, "waiting for", "the agent");
    std::array<char, 16384> chunk{};
    const ssize_t got = receive_bytes(socket_.fd(), chunk.data(), chunk.size());
    if (got > 0)
      input_.feed({chunk.data(), static_cast<std::size_t>(got)});
    else if (got == 0)
      return fail(ECONNRESET, "waiting for", "the agent");
    else if (errno != EAGAIN && errno != EINTR)
      return fail(errno, "waiting for", "the agent");
  }
}

// The client on a loop. Every `done` is called from the loop, after the state is reset, so that
// `done` may call again or destroy the client.
Result<void> AsyncClient::start(std::string message) {
  socket_ = client_socket(SOCK_NONBLOCK);
  if (!socket_) return fail(errno, "making", "a socket");
  // On a non-blocking AF_UNIX socket this never waits.
  if (auto connected = connect_to(socket_.get(), path_); !connected) return connected;
  output_ = std::move(message);
  input_ = Decoder{kReplyLimitBytes};
  return call_on(event_, socket_.get(), EPOLLIN | EPOLLOUT, on_io, this, path_)
      .map([&](EventSource source) { io_ = std::move(source); });
}

int AsyncClient::on_io(sd_event_source* source, int, std::uint32_t, void* self) {
  return guarded_callback(source, [&] { static_cast<AsyncClient*>(self)->go_on(); });
}

void AsyncClient::go_on() {
  if (auto written = write(); !written) return finish(fail(std::move(written.error())));
  auto reply = read();
  if (!reply)
    finish(fail(std::move(reply.error())));
  else if (*reply)
    finish(std::move(**reply));
}

Result<void> AsyncClient::write() {
  while (!output_.empty()) {
    const ssize_t put =
        ::send(socket_.get(), output_.data(), output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return {};
    if (put < 0) return fail(errno == EPIPE ? ECONNRESET : errno, "calling", path_);
    output_.erase(0, static_cast<std::size_t>(put));
    if (output_.empty()) sd_event_source_set_io_events(io_.get(), EPOLLIN);
  }
  return {};
}

Result<std::optional<Reply>> AsyncClient::read() {
  std::array<char, 8192> chunk{};
  const ssize_t got = receive_bytes(socket_.fd(), chunk.data(), chunk.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got < 0) return fail(errno, "waiting for", path_);
  if (got == 0) return fail(ECONNRESET, "waiting for", path_);
  input_.feed({chunk.data(), static_cast<std::size_t>(got)});
  const auto message = input_.next();
  if (!message) return fail(message.error());
  if (!*message) return std::nullopt;
  return reply_from(**message);
}

void AsyncClient::finish(Result<Reply> reply) {
  io_.reset();
  socket_ = PeerSocket{};
  output_ = {};
  const Done done = std::exchange(pending_, nullptr);
  done(std::move(reply));  // may destroy this
}

int AsyncClient::on_failure(sd_event_source* source, void* self) {
  return guarded_callback(source, [&] {
    auto* client = static_cast<AsyncClient*>(self);
    client->finish(fail(std::move(client->failure_)));
  });
}

void AsyncClient::call(const std::string& method, const Json& parameters, Done done) {
  pending_ = std::move(done);
  auto started = start(call_message(method, parameters, /*more=*/false));
  connected_ = started.has_value();
  if (started) return;
  failure_ = std::move(started.error());
  sd_event_source* source = nullptr;
  // Fails only if memory runs out; the caller, who watches the time, then hears nothing.
  if (sd_event_add_defer(event_, &source, on_failure, this) >= 0) report_.reset(source);
}

}  // namespace pvrdma::varlink
