#include "agent/ctl/follower.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/ctl/text.hpp"

namespace pvrdma::ctl {

namespace {

// No file event tells when a service calls listen(2), or why it hangs up: so often is it tried.
constexpr Milliseconds kRetry{200};

Milliseconds until(BootTime deadline) {
  return std::max(deadline - BootClock::now(), Milliseconds{0});
}

}  // namespace

Follower::Follower(std::string socket, Milliseconds answer_within)
    : socket_(socket), answer_within_(answer_within), watch_(std::move(socket)) {}

std::optional<NoAnswer> Follower::connect(Milliseconds timeout) {
  watch_.arm();
  const Milliseconds bound = std::max(std::min(timeout, answer_within_), Milliseconds{1});
  auto client = varlink::Client::connect(socket_, bound);
  if (!client) {
    if (client.error().code != ENOENT) retry_at_ = BootClock::now() + kRetry;
    return explain(client.error(), socket_);
  }
  const auto started = client->start_stream("io.pvrdma.Agent.WatchHealth", Json::object());
  if (!started) {
    retry_at_ = BootClock::now() + kRetry;
    return explain(started.error(), socket_);
  }
  client_ = std::move(*client);
  answered_ = false;
  answer_by_ = BootClock::now() + answer_within_;
  return std::nullopt;
}

std::optional<Answered<Answer<Health>>> Follower::lost(NoAnswer trouble) {
  client_.reset();
  if (told_ == trouble) return std::nullopt;
  told_ = trouble;
  return Answered<Answer<Health>>{tl::unexpected(std::move(trouble))};
}

std::optional<Answered<Answer<Health>>> Follower::receive(Milliseconds timeout) {
  const Milliseconds bound = answered_ ? timeout : std::min(timeout, until(answer_by_));
  auto reply = client_->next(std::max(bound, Milliseconds{1}));
  if (!reply) {
    const bool timed_out = reply.error().code == ETIMEDOUT;
    if (timed_out && (answered_ || until(answer_by_) > Milliseconds{0})) return std::nullopt;
    retry_at_ = BootClock::now() + kRetry;
    // A service that restarts hangs up on those it has answered: nothing to report as yet.
    if (!timed_out && answered_) {
      client_.reset();
      return std::nullopt;
    }
    return lost(explain(reply.error(), socket_));
  }
  if (!reply->continues || !reply->error.empty()) retry_at_ = BootClock::now() + kRetry;
  if (!reply->error.empty()) return lost(bad_answer(printable(reply->error)));
  auto health = health_in(std::move(reply->parameters));
  if (!health) {
    retry_at_ = BootClock::now() + kRetry;
    return lost(std::move(health.error()));
  }
  answered_ = true;
  told_.reset();
  if (!reply->continues) client_.reset();
  return health;
}

std::optional<Answered<Answer<Health>>> Follower::next(Milliseconds timeout) {
  const BootTime deadline = BootClock::now() + timeout;
  for (;;) {
    if (client_) {
      if (auto news = receive(until(deadline))) return news;
    } else if (retry_at_ && until(*retry_at_) > Milliseconds{0}) {
      watch_.wait(std::min(until(deadline), until(*retry_at_)));
      if (until(*retry_at_) == Milliseconds{0}) retry_at_.reset();
    } else if (auto trouble = connect(until(deadline))) {
      if (auto news = lost(std::move(*trouble))) return news;
      if (!retry_at_) watch_.wait(until(deadline));
    }
    if (until(deadline) == Milliseconds{0}) return std::nullopt;
  }
}

}  // namespace pvrdma::ctl
