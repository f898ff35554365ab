// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <limits>
#include <utility>

#include "agent/base/guarded.hpp"

namespace pvrdma::varlink {

namespace {

// The next request of a client is taken only when its unread output is no longer than this.
constexpr std::size_t kOutputPauseBytes = 16U << 10U;
// The kernel keeps unread replies and counts them as memory of this process: by default 208 KiB for
// each client, so that the clients of five users would exceed MemoryMax=. The kernel doubles this
// value (SO_SNDBUF in socket(7)).
constexpr int kKernelBytes = 16 << 10;
constexpr std::int64_t kRootsPriority = -1;
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::uint64_t to_us(Milliseconds time) { return static_cast<std::uint64_t>(time.count()) * 1000U; }

}  // namespace

Connection::Connection(sd_event* event, PeerSocket socket, uid_t peer_uid, const Limits& limits,
                       Owner& owner)
    : event_(event),
      socket_(std::move(socket)),
      peer_uid_(peer_uid),
      limits_(limits),
      owner_(owner),
      input_(limits.message_bytes) {}

Result<std::shared_ptr<Connection>> Connection::open(sd_event* event, PeerSocket socket,
                                                     uid_t peer_uid, const Limits& limits,
                                                     Owner& owner) {
  auto connection = std::make_shared<Connection>(event, std::move(socket), peer_uid, limits, owner);
  return connection->attach().map([&] { return connection; });
}

Result<void> Connection::attach() {
  constexpr const char* kDoing = "watching";
  constexpr const char* kClient = "a client";
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &kKernelBytes, sizeof kKernelBytes) != 0)
    return fail(errno, kDoing, kClient);
  watched_ = EPOLLIN;
  auto io = call_on(event_, socket_.get(), watched_, on_io, this, kClient);
  if (!io) return fail(io.error());
  io_ = std::move(*io);
  sd_event_source* source = nullptr;
  // An accuracy of an eighth is enough, as the timer only ends faulty connections.
  const auto accuracy = to_us(std::min(limits_.idle, limits_.half_message)) / 8 + 1;
  int added = sd_event_add_time(event_, &source, CLOCK_MONOTONIC, kNever, accuracy, on_timer, this);
  if (added < 0) return fail(-added, kDoing, kClient);
  timer_.reset(source);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_OFF);
  added = sd_event_add_defer(event_, &source, on_resume, this);
  if (added < 0) return fail(-added, kDoing, kClient);
  resume_.reset(source);
  sd_event_source_set_enabled(resume_.get(), SD_EVENT_OFF);
  // An attacker may control any other user, who must not delay signals and other events.
  if (peer_uid_ == 0) {
    sd_event_source_set_priority(io_.get(), kRootsPriority);
    sd_event_source_set_priority(resume_.get(), kRootsPriority);
  }
  active_at_ = now();
  settle_time();
  return {};
}

template <typename Work>
int Connection::carry_out(void* self, Work work) {
  const auto connection = static_cast<Connection*>(self)->shared_from_this();
  const std::uint64_t began = cpu_us();
  if (guarded([&] { work(*connection); }) < 0) connection->close();
  connection->owner_.spent(connection->peer_uid_, cpu_us() - began);
  return 0;
}

int Connection::on_io(sd_event_source*, int, std::uint32_t events, void* self) {
  return carry_out(self, [events](Connection& connection) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
      connection.hang_up();
    } else {
      if ((events & EPOLLOUT) != 0) connection.flush();
      if ((events & EPOLLIN) != 0) connection.receive();
    }
    connection.take_request();
    connection.settle();
  });
}

int Connection::on_resume(sd_event_source*, void* self) {
  return carry_out(self, [](Connection& connection) {
    connection.take_request();
    connection.settle();
  });
}

int Connection::on_timer(sd_event_source*, std::uint64_t, void* self) {
  return carry_out(self, [](Connection& connection) {
    connection.timer_at_ = 0;
    if (connection.now() >= connection.deadline())
      connection.close();
    else
      connection.settle();
  });
}

void Connection::hang_up() {
  // EPOLLHUP stays set, so the source must be removed, or the loop would spin. take_request() still
  // handles the oneway calls received before.
  io_.reset();
  hung_up_ = true;
  output_ = {};
}

void Connection::receive() {
  if (closed_ || eof_) return;
  std::array<char, 8192> chunk{};
  const ssize_t got = receive_bytes(socket_.fd(), chunk.data(), chunk.size());
  if (got > 0)
    input_.feed({chunk.data(), static_cast<std::size_t>(got)});
  else if (got == 0)
    eof_ = true;
  else if (errno != EAGAIN && errno != EINTR)
    close();
}

void Connection::flush() {
  while (!closed_ && !output_.empty()) {
    const ssize_t put =
        ::send(socket_.get(), output_.data(), output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return;
    if (put < 0) {
      // The answer is lost, for instance since memory is short (ENOBUFS), so its client must not
      // wait for it. The end also causes EPOLLHUP.
      output_.clear();
      ::shutdown(socket_.get(), SHUT_RDWR);
      return;
    }
    active_at_ = now();
    output_.erase(0, static_cast<std::size_t>(put));
  }
  if (output_.capacity() > kKeptBytes) output_ = {};
}

void Connection::send(std::string_view message) {
  if (gone()) return;
  if (output_.empty()) active_at_ = now();
  output_.append(message);
  flush();
  if (output_.size() > limits_.output_bytes) return close();
  settle();
}

bool Connection::lags_behind(std::size_t last_message) const noexcept {
  return output_.size() > kOutputPauseBytes + last_message;
}

void Connection::call_answered() {
  in_flight_ = false;
  active_at_ = now();
  settle();
}

bool Connection::may_take() const {
  return !closed_ && !in_flight_ && output_.size() <= kOutputPauseBytes;
}

void Connection::take_request() {
  if (!may_take()) return;
  taking_ = true;
  if (hung_up_ && !input_.has_message()) receive();
  const auto message = input_.next();
  if (!message)
    close();
  else if (*message)
    handle(**message);
  taking_ = false;
}

void Connection::handle(std::string_view message) {
  auto request = request_from(message);
  // A client that does not speak varlink gets no answer.
  if (!request) return close();
  part_since_ = 0;
  active_at_ = now();
  // No reply reaches a client that has gone. A flood of such clients would cost minutes of work.
  if (hung_up_ && !request->oneway) return;
  in_flight_ = true;
  const bool upgrade = request->upgrade;
  auto call = std::make_shared<Call>(weak_from_this(), peer_uid_, std::move(*request));
  call_ = call;
  if (upgrade)
    call->error("org.varlink.service.InvalidParameter", {{"parameter", "upgrade"}});
  else
    owner_.handle(std::move(call));
}

void Connection::resume() {
  if (!rests_ && may_take() && (input_.has_message() || hung_up_))
    sd_event_source_set_enabled(resume_.get(), SD_EVENT_ONESHOT);
}

void Connection::set_rest(bool rests) {
  if (closed_ || rests == rests_) return;
  rests_ = rests;
  if (io_) sd_event_source_set_enabled(io_.get(), rests ? SD_EVENT_OFF : SD_EVENT_ON);
  if (rests)
    sd_event_source_set_enabled(resume_.get(), SD_EVENT_OFF);
  else
    resume();
}

bool Connection::finished() const {
  return eof_ && !in_flight_ && !input_.has_message() && output_.empty();
}

void Connection::settle() {
  if (closed_ || taking_) return;
  // The client no longer waits for that reply, nor for later ones.
  if (finished() || (hung_up_ && in_flight_)) return close();
  if (io_) {
    std::uint32_t mask = 0;
    if (!eof_ && !input_.has_message()) mask |= EPOLLIN;
    if (!output_.empty()) mask |= EPOLLOUT;
    if (mask != watched_) sd_event_source_set_io_events(io_.get(), mask);
    watched_ = mask;
  }
  resume();
  if (!input_.has_part())
    part_since_ = 0;
  else if (part_since_ == 0)
    part_since_ = now();
  settle_time();
}

// The timer is only moved to an earlier time; when it fires too early it is set again. So an
// ordinary request needs no system call for it.
void Connection::settle_time() {
  const std::uint64_t at = deadline();
  if (at == kNever || (timer_at_ != 0 && timer_at_ <= at)) return;
  sd_event_source_set_time(timer_.get(), at);
  sd_event_source_set_enabled(timer_.get(), SD_EVENT_ONESHOT);
  timer_at_ = at;
}

std::uint64_t Connection::deadline() const {
  std::uint64_t at = kNever;
  if (part_since_ != 0) at = part_since_ + to_us(limits_.half_message);
  // A watch may be silent for ever, but must not leave replies unread for the idle time.
  if (!in_flight_ || !output_.empty()) at = std::min(at, active_at_ + to_us(limits_.idle));
  return at;
}

std::uint64_t Connection::now() const {
  std::uint64_t time = 0;
  sd_event_now(event_, CLOCK_MONOTONIC, &time);
  return time;
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();  // the owner drops its reference
  io_.reset();
  timer_.reset();
  resume_.reset();
  socket_ = PeerSocket{};
  owner_.closed(*this);
  if (const auto call = call_.lock()) call->client_has_gone();
}

}  // namespace pvrdma::varlink
