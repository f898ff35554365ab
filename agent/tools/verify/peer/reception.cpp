// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/reception.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace pvrdma::verify {

namespace {

constexpr Milliseconds kPatience{3000};  // for one greeting
constexpr Milliseconds kWhileFull{300};
constexpr BootTime kAtOnce{};  // returns at once with the data that is there

}  // namespace

void Reception::add(Control control) {
  auto greeting = Greeting::begin(Side::Listener, token_);
  if (greeting && control.send(greeting->hello(), kAtOnce))
    greeters_.push_back({std::move(control), std::move(*greeting), BootClock::now()});
}

BootTime Reception::patience_with(const Greeter& greeter) const {
  return greeter.came + (is_full() ? kWhileFull : kPatience);
}

// None: the guest has not said enough yet.
std::optional<Reception::Guest> Reception::look_at(Greeter& greeter) const {
  const auto refused = [&](Error why) {
    return Guest{std::move(greeter.control), {}, std::move(why)};
  };
  for (;;) {
    if (greeter.greeting.is_over() && !wants_first_)
      return Guest{std::move(greeter.control), {}, std::nullopt};
    auto line = greeter.control.receive(kAtOnce);
    if (!line && line.error().code == ETIMEDOUT && BootClock::now() < patience_with(greeter))
      return std::nullopt;
    if (!line) return refused(std::move(line.error()));
    if (greeter.greeting.is_over())
      return Guest{std::move(greeter.control), std::move(*line), std::nullopt};
    auto answer = greeter.greeting.take(*line);
    if (!answer) return refused(std::move(answer.error()));
    if (*answer)
      if (auto sent = greeter.control.send(**answer, kAtOnce); !sent)
        return refused(std::move(sent.error()));
  }
}

std::optional<Reception::Guest> Reception::look_at_all() {
  for (auto greeter = greeters_.begin(); greeter != greeters_.end(); ++greeter)
    if (auto guest = look_at(*greeter)) {
      greeters_.erase(greeter);
      return guest;
    }
  return std::nullopt;
}

Result<void> Reception::wait(BootTime deadline) {
  std::vector<pollfd> fds;
  for (const Greeter& greeter : greeters_) {
    fds.push_back({greeter.control.fd(), POLLIN, 0});
    deadline = std::min(deadline, patience_with(greeter));
  }
  const bool listens = listener_ != nullptr && !is_full();
  if (listens) fds.push_back({listener_->fd(), POLLIN, 0});
  if (const int code = poll_until(fds, deadline); code != 0 && code != ETIMEDOUT)
    return fail(code, "waiting for", "a peer");
  if (!listens || fds.back().revents == 0) return {};
  auto control = listener_->accept(deadline);
  // These errors mean that a guest left before it was accepted.
  if (!control && control.error().code != ECONNABORTED && control.error().code != EAGAIN &&
      control.error().code != ETIMEDOUT)
    return fail(std::move(control.error()));
  if (control) add(std::move(*control));
  return {};
}

Result<Reception::Guest> Reception::next(BootTime deadline) {
  for (;;) {
    if (auto guest = look_at_all()) return std::move(*guest);
    const bool none_comes = listener_ == nullptr && greeters_.empty();
    if (none_comes || BootClock::now() >= deadline) return fail(ETIMEDOUT, "waiting for", "a peer");
    if (auto waited = wait(deadline); !waited) return fail(std::move(waited.error()));
  }
}

}  // namespace pvrdma::verify
