// The client on an sd-event loop. Every `done` comes from a callback of the loop, with the state
// already put back, so that it may call again or destroy the client.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/base/guarded.hpp"
#include "agent/varlink/client.hpp"
#include "agent/varlink/connection.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::varlink {

struct AsyncClient::Impl {
  Impl(sd_event* event_loop, std::string socket_path)
      : event(event_loop), path(std::move(socket_path)) {}

  Result<void> start(std::string message);
  // Reports from the loop's next round what failed within call().
  void report_later(Done done, Error error);
  // The state of the loop's callbacks: none where nothing is finished yet.
  [[nodiscard]] Result<void> write();
  [[nodiscard]] Result<std::optional<Reply>> read();
  void go_on();
  void finish(Result<Reply> reply);
  static int on_io(sd_event_source* source, int fd, std::uint32_t events, void* self);
  static int on_report(sd_event_source* source, void* self);

  sd_event* event;
  std::string path;
  // The call under way; `pending` is empty where there is none.
  Done pending;
  Fd socket;
  EventSource io;
  std::string output;
  Decoder input{kReplyLimitBytes};
  std::vector<std::pair<Done, Error>> reports;
  EventSource report;
};

Result<void> AsyncClient::Impl::start(std::string message) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG, "connecting to", path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  socket = Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket) return fail(errno, "making", "a socket");
  // On AF_UNIX this never waits: it succeeds, or says EAGAIN where the server's queue is full.
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail(errno, "connecting to", path);
  output = std::move(message);
  input = Decoder{kReplyLimitBytes};
  sd_event_source* source = nullptr;
  const int result = sd_event_add_io(event, &source, socket.get(), EPOLLIN | EPOLLOUT, on_io, this);
  if (result < 0) return fail(-result, "watching", path);
  io.reset(source);
  return {};
}

int AsyncClient::Impl::on_io(sd_event_source* source, int, std::uint32_t, void* self) {
  return guarded_callback(source, [&] { static_cast<Impl*>(self)->go_on(); });
}

void AsyncClient::Impl::go_on() {
  if (auto written = write(); !written) return finish(fail(std::move(written.error())));
  auto reply = read();
  if (!reply)
    finish(fail(std::move(reply.error())));
  else if (*reply)
    finish(std::move(**reply));
}

Result<void> AsyncClient::Impl::write() {
  while (!output.empty()) {
    const ssize_t put =
        ::send(socket.get(), output.data(), output.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return {};
    if (put < 0) return fail(errno == EPIPE ? ECONNRESET : errno, "calling", path);
    output.erase(0, static_cast<std::size_t>(put));
    if (output.empty()) sd_event_source_set_io_events(io.get(), EPOLLIN);
  }
  return {};
}

Result<std::optional<Reply>> AsyncClient::Impl::read() {
  std::array<char, 8192> chunk;  // NOLINT(*-member-init): filled by recv
  const ssize_t got = ::recv(socket.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got < 0) return fail(errno, "waiting for", path);
  if (got == 0) return fail(ECONNRESET, "waiting for", path);
  input.feed({chunk.data(), static_cast<std::size_t>(got)});
  const auto message = input.next();
  if (!message) return fail(message.error());
  if (!*message) return std::nullopt;
  auto reply = reply_from(**message);
  if (!reply) return fail(std::move(reply.error()));
  return std::move(*reply);
}

void AsyncClient::Impl::finish(Result<Reply> reply) {
  io.reset();
  socket = Fd{};
  output = {};
  const Done done = std::exchange(pending, nullptr);
  done(std::move(reply));  // may destroy this
}

void AsyncClient::Impl::report_later(Done done, Error error) {
  reports.emplace_back(std::move(done), std::move(error));
  if (report) {
    sd_event_source_set_enabled(report.get(), SD_EVENT_ONESHOT);
    return;
  }
  sd_event_source* source = nullptr;
  // Fails for want of memory only, which ends the program anyway.
  if (sd_event_add_defer(event, &source, on_report, this) >= 0) report.reset(source);
}

int AsyncClient::Impl::on_report(sd_event_source* source, void* self) {
  return guarded_callback(source, [&] {
    const auto due = std::exchange(static_cast<Impl*>(self)->reports, {});
    for (const auto& [done, error] : due) done(fail(error));  // may destroy *self
  });
}

AsyncClient::AsyncClient(sd_event* event, std::string path)
    : impl_(std::make_unique<Impl>(event, std::move(path))) {}

AsyncClient::~AsyncClient() = default;

void AsyncClient::call(const std::string& method, const Json& parameters, Done done) {
  if (busy()) return impl_->report_later(std::move(done), {EBUSY, "calling", impl_->path});
  if (auto started = impl_->start(call_message(method, parameters, /*more=*/false)); !started) {
    impl_->io.reset();
    impl_->socket = Fd{};
    return impl_->report_later(std::move(done), std::move(started.error()));
  }
  impl_->pending = std::move(done);
}

bool AsyncClient::busy() const { return impl_->pending != nullptr; }

}  // namespace pvrdma::varlink
