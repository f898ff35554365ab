// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/follower.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>

#include "agent/base/file.hpp"
#include "agent/base/notify.hpp"
#include "agent/ctl/text.hpp"

namespace pvrdma::ctl {

namespace {

// No file event tells when a service calls listen(2), or why it closes a connection, so the client
// retries at this interval.
constexpr Milliseconds kRetry{200};

constexpr Milliseconds kWithoutInotify{200};
// A directory made between two inotify_add_watch calls of arm() goes unnoticed, so no wait is
// longer than this.
constexpr Milliseconds kLookAgain{1000};

Milliseconds until(BootTime deadline) {
  return std::max(deadline - BootClock::now(), Milliseconds{0});
}

// The latest health after changes. Without a change this asks the agent: a hanging agent reports no
// change, and a working one gives a newer look.
HealthResult next(Follower& follower, const Settings& settings, const Pace& pace) {
  auto news = follower.next(pace.refresh);
  if (!news) return ask_health(settings.socket, settings.answer_within);
  const BootTime end = BootClock::now() + pace.burst;
  for (auto left = pace.burst; left > Milliseconds{0}; left = end - BootClock::now())
    if (auto more = follower.next(left)) news = std::move(more);
  return std::move(*news);
}

}  // namespace

void SocketWatch::arm() {
  inotify_ = Fd{inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  if (!inotify_) return;
  // A service binds, sets the mode, and then listens, so IN_ATTRIB comes last.
  constexpr std::uint32_t kEvents =
      IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
  for (auto directory = std::filesystem::path{path_}.parent_path(); !directory.empty();
       directory = directory.parent_path()) {
    if (inotify_add_watch(inotify_.get(), directory.c_str(), kEvents) >= 0) return;
    if (directory == directory.root_path()) break;
  }
  inotify_ = Fd{};
}

void SocketWatch::wait(Milliseconds timeout) {
  const Milliseconds limit = std::min(timeout, inotify_ ? kLookAgain : kWithoutInotify);
  if (limit <= Milliseconds{0}) return;
  pollfd event{inotify_.get(), POLLIN, 0};
  // A signal ends the wait early; the caller checks its own deadline.
  static_cast<void>(poll(&event, 1, static_cast<int>(limit.count())));
  // The content of the events does not matter. They must be read, or the next wait returns at once.
  std::array<char, 4096> events{};
  while (inotify_ && ::read(inotify_.get(), events.data(), events.size()) > 0) {
  }
}

Follower::Follower(std::string socket, Milliseconds answer_within)
    : socket_(socket), answer_within_(answer_within), watch_(std::move(socket)) {}

std::optional<NoAnswer> Follower::connect(Milliseconds timeout) {
  watch_.arm();
  const Milliseconds bound = std::max(std::min(timeout, answer_within_), Milliseconds{1});
  auto client = varlink::Client::connect(socket_, bound);
  if (!client) {
    if (client.error().code != ENOENT) hang_up();
    return explain(client.error(), socket_);
  }
  const auto started = client->start_stream("io.pvrdma.Agent.WatchHealth", Json::object());
  if (!started) {
    hang_up();
    return explain(started.error(), socket_);
  }
  client_ = std::move(*client);
  answered_ = false;
  answer_by_ = BootClock::now() + answer_within_;
  return std::nullopt;
}

void Follower::hang_up() {
  client_.reset();
  retry_at_ = BootClock::now() + kRetry;
}

std::optional<HealthResult> Follower::told(NoAnswer trouble) {
  if (told_ == trouble) return std::nullopt;
  told_ = trouble;
  return HealthResult{tl::unexpected(std::move(trouble))};
}

std::optional<HealthResult> Follower::receive(Milliseconds timeout) {
  const Milliseconds bound = answered_ ? timeout : std::min(timeout, until(answer_by_));
  auto reply = client_->next(std::max(bound, Milliseconds{1}));
  if (!reply) {
    const bool timed_out = reply.error().code == ETIMEDOUT;
    if (timed_out && (answered_ || until(answer_by_) > Milliseconds{0})) return std::nullopt;
    hang_up();
    // A service that restarts closes connections after their answers, which is not worth a report
    // yet.
    if (!timed_out && answered_) return std::nullopt;
    return told(explain(reply.error(), socket_));
  }
  if (!reply->continues || !reply->error.empty()) hang_up();
  if (!reply->error.empty()) return told(bad_answer(printable(reply->error)));
  auto health = health_in(std::move(reply->parameters));
  if (!health) {
    hang_up();
    return told(std::move(health.error()));
  }
  answered_ = true;
  told_.reset();
  return health;
}

std::optional<HealthResult> Follower::next(Milliseconds timeout) {
  const BootTime deadline = BootClock::now() + timeout;
  for (;;) {
    if (client_) {
      if (auto news = receive(until(deadline))) return news;
    } else if (retry_at_ && until(*retry_at_) > Milliseconds{0}) {
      watch_.wait(std::min(until(deadline), until(*retry_at_)));
      if (until(*retry_at_) == Milliseconds{0}) retry_at_.reset();
    } else if (auto trouble = connect(until(deadline))) {
      if (auto news = told(std::move(*trouble))) return news;
      if (!retry_at_) watch_.wait(until(deadline));
    }
    if (until(deadline) == Milliseconds{0}) return std::nullopt;
  }
}

int keep_up(const Settings& settings, const Pace& pace,
            const std::function<int(const HealthResult&)>& act) {
  Follower follower{settings.socket, settings.answer_within};
  for (unsigned done = 0; !pace.times || done < *pace.times; ++done) {
    if (const int code = act(next(follower, settings, pace)); code != 0) return code;
    notify("READY", "1");
    notify("WATCHDOG", "1");
  }
  return 0;
}

Result<void> replace_regular_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(0, "writing", path + ": it is no regular file");
  return replace_file(path, text, 0644);
}

Result<void> remove_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(0, "removing", path + ": it is no regular file");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(errno, "removing", path);
  return {};
}

}  // namespace pvrdma::ctl
