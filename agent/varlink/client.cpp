// The blocking client: every wait is a poll(2) with what is left of the deadline.
#include "agent/varlink/client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

namespace {

// Sending a request to a server that does not read is bounded even where the reply is waited for
// without haste.
constexpr Milliseconds kSendTimeout = std::chrono::seconds{5};

BootTime after(Milliseconds timeout) { return BootClock::now() + timeout; }

// Waits for `events` on the socket. False: the deadline has passed.
Result<bool> wait_for(int socket, short events, BootTime deadline) {
  for (;;) {
    const auto left = std::max((deadline - BootClock::now()).count(), Milliseconds::rep{0});
    pollfd waited{socket, events, 0};
    const int ready =
        ::poll(&waited, 1, static_cast<int>(std::min<Milliseconds::rep>(left, INT_MAX)));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return fail(errno, "waiting for", "the agent");
  }
}

}  // namespace

Client::Client(Fd socket) : socket_(std::move(socket)), input_(kReplyLimitBytes) {}

Result<Client> Client::connect(const std::string& path, Milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG, "connecting to", path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) return fail(errno, "making", "a socket");
  // The one bound that connect(2) knows on AF_UNIX, where a full queue of the server makes it wait
  // (EAGAIN once the time is over); zero would be no bound.
  const auto us = std::chrono::microseconds{std::max(timeout, Milliseconds{1})}.count();
  const timeval bound{us / 1'000'000, us % 1'000'000};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound) != 0)
    return fail(errno, "preparing to connect to", path);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    if (errno != EINTR) return fail(errno == EAGAIN ? ETIMEDOUT : errno, "connecting to", path);
  return Client{std::move(socket)};
}

Result<Reply> Client::call(const std::string& method, const Json& parameters,
                           Milliseconds timeout) {
  const BootTime deadline = after(timeout);
  auto sent = send(call_message(method, parameters, /*more=*/false), deadline);
  auto reply = sent ? next(std::max(deadline - BootClock::now(), Milliseconds{0}))
                    : Result<Reply>{fail(std::move(sent.error()))};
  if (!reply) socket_ = Fd{};
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
      const auto ready = wait_for(socket_.get(), POLLOUT, deadline);
      if (!ready) return fail(ready.error());
      if (!*ready) return fail(ETIMEDOUT, "calling", "the agent");
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
    const auto ready = wait_for(socket_.get(), POLLIN, deadline);
    if (!ready) return fail(ready.error());
    if (!*ready) return fail(ETIMEDOUT, "waiting for", "the agent");
    std::array<char, 16384> chunk;  // NOLINT(*-member-init): filled by recv
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got > 0)
      input_.feed({chunk.data(), static_cast<std::size_t>(got)});
    else if (got == 0)
      return fail(ECONNRESET, "waiting for", "the agent");
    else if (errno != EAGAIN && errno != EINTR)
      return fail(errno, "waiting for", "the agent");
  }
}

}  // namespace pvrdma::varlink
