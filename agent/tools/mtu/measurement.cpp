// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/measurement.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/tools/mtu/command.hpp"
#include "agent/tools/mtu/resolver.hpp"
#include "agent/tools/mtu/walk.hpp"

namespace pvrdma::ctl::pmtu {

namespace {

// One loop over sockets, name answers and deadlines.
class Loop {
 public:
  Loop(const MtuOptions& options, const std::string& interface, Resolver resolver)
      : timeout_(options.timeout),
        end_(BootClock::now() + options.timeout),
        resolver_(std::move(resolver)) {
    for (const std::string& host : options.hosts) walks_.emplace_back(host, interface);
    for (std::size_t at = 0; at < walks_.size(); ++at) resolver_.ask(at, options.hosts[at]);
  }

  [[nodiscard]] bool over() const { return std::ranges::all_of(walks_, &Walk::done); }

  // Waits until there is something to do, and does it.
  [[nodiscard]] Result<void> turn() {
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

  [[nodiscard]] Measurements seen() const {
    Measurements out;
    for (const Walk& walk : walks_) out.push_back(walk.seen());
    return out;
  }

 private:
  [[nodiscard]] Milliseconds until_next(BootTime now) const {
    BootTime first = end_;
    for (const Walk& walk : walks_)
      if (const auto deadline = walk.deadline()) first = std::min(first, *deadline);
    return std::max(first - now, Milliseconds{0});
  }

  Milliseconds timeout_;
  BootTime end_;
  Resolver resolver_;
  std::vector<Walk> walks_;
};

}  // namespace

Carries carries(const Measurement& one, unsigned bytes) {
  if (one.outcome.mtu >= bytes) return Carries::Yes;
  return one.found() ? Carries::No : Carries::Unknown;
}

Carries carries(const Measurements& all, unsigned bytes) {
  Carries worst = Carries::Yes;
  for (const Measurement& one : all) worst = std::max(worst, carries(one, bytes));
  return worst;
}

Result<Measurements> measure(const MtuOptions& options, const std::string& interface,
                             const std::function<void(const Measurements&)>& tell) {
  auto resolver = Resolver::make(options.family);
  if (!resolver) return fail(resolver.error());
  Loop loop{options, interface, std::move(*resolver)};
  while (!loop.over()) {
    if (auto turned = loop.turn(); !turned) return fail(turned.error());
    tell(loop.seen());
  }
  return loop.seen();
}

}  // namespace pvrdma::ctl::pmtu
