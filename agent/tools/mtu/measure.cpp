#include "agent/tools/mtu/measure.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/tools/mtu/resolver.hpp"
#include "agent/tools/mtu/walk.hpp"

namespace pvrdma::ctl::pmtu {

namespace {

class Loop {
 public:
  Loop(const Request& request, Resolver resolver)
      : timeout_(request.timeout),
        end_(BootClock::now() + request.timeout),
        resolver_(std::move(resolver)) {
    for (const std::string& host : request.hosts) walks_.emplace_back(host, request.interface);
    for (std::size_t at = 0; at < walks_.size(); ++at) resolver_.ask(at, request.hosts[at]);
  }

  [[nodiscard]] bool over() const {
    return std::all_of(walks_.begin(), walks_.end(), [](const Walk& walk) { return walk.done(); });
  }
  // Waits until there is something to do, and does it.
  [[nodiscard]] Result<void> turn();
  [[nodiscard]] std::vector<Measurement> seen() const {
    std::vector<Measurement> out;
    for (const Walk& walk : walks_) out.push_back(walk.seen());
    return out;
  }

 private:
  [[nodiscard]] Milliseconds until_next(BootTime now) const;

  Milliseconds timeout_;
  BootTime end_;
  Resolver resolver_;
  std::vector<Walk> walks_;
};

Milliseconds Loop::until_next(BootTime now) const {
  BootTime first = end_;
  for (const Walk& walk : walks_)
    if (const auto deadline = walk.deadline()) first = std::min(first, *deadline);
  return std::max(first - now, Milliseconds{0});
}

Result<void> Loop::turn() {
  std::vector<pollfd> events{{resolver_.fd(), POLLIN, 0}};
  // poll(2) passes over the -1 of those that have no socket.
  for (const Walk& walk : walks_) events.push_back({walk.fd(), POLLIN, 0});
  const auto wait = static_cast<int>(until_next(BootClock::now()).count());
  if (poll(events.data(), events.size(), wait) < 0 && errno != EINTR)
    return fail(errno, "waiting for", "answers");
  const BootTime now = BootClock::now();
  for (const auto& answer : resolver_.take()) walks_[answer.index].begin(answer.addresses, now);
  for (std::size_t at = 0; at < walks_.size(); ++at) {
    const auto deadline = walks_[at].deadline();
    if (deadline && (events[at + 1].revents != 0 || *deadline <= now)) walks_[at].go_on(now);
    if (!walks_[at].done() && now >= end_) walks_[at].give_up(now, timeout_);
  }
  return {};
}

}  // namespace

Result<std::vector<Measurement>> measure(
    const Request& request, const std::function<void(const std::vector<Measurement>&)>& tell) {
  auto resolver = Resolver::make(request.family);
  if (!resolver) return fail(resolver.error());
  Loop loop{request, std::move(*resolver)};
  while (!loop.over()) {
    if (auto turned = loop.turn(); !turned) return fail(turned.error());
    tell(loop.seen());
  }
  return loop.seen();
}

}  // namespace pvrdma::ctl::pmtu
