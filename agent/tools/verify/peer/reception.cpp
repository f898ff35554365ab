// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/reception.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

namespace pvrdma::verify {

namespace {

constexpr Milliseconds kPatience{3000};  // for one greeting
constexpr Milliseconds kWithoutPlace{300};
constexpr BootTime kAtOnce{};  // returns at once with the data that is there

std::string network_of_peer(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return network_of(address);
}

}  // namespace

std::string network_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& of = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    return {reinterpret_cast<const char*>(&of), sizeof of};
  }
  const auto& of = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  const auto* bytes = reinterpret_cast<const char*>(&of);
  return IN6_IS_ADDR_V4MAPPED(&of) ? std::string{bytes + 12, 4} : std::string{bytes, 8};
}

void Reception::add(Control control) {
  auto greeting = Greeting::begin(Side::Listener, token_);
  if (!greeting || !control.send(greeting->hello(), kAtOnce)) return;
  if (is_full())
    if (const auto stranger = oldest_of_many(); stranger != greeters_.cend())
      greeters_.erase(stranger);
  std::string network = network_of_peer(control.fd());
  greeters_.push_back(
      {std::move(control), std::move(*greeting), BootClock::now(), std::move(network)});
}

// The oldest connection of the network with the most that have not greeted yet; the end where no
// network has many.
std::vector<Reception::Greeter>::const_iterator Reception::oldest_of_many() const {
  std::map<std::string, std::size_t> counts;
  for (const Greeter& greeter : greeters_)
    if (!greeter.greeting.is_over()) ++counts[greeter.network];
  const auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  if (most == counts.end() || most->second < kManyOfOne) return greeters_.end();
  return std::find_if(greeters_.begin(), greeters_.end(), [&](const Greeter& one) {
    return !one.greeting.is_over() && one.network == most->first;
  });
}

bool Reception::has_place() const { return !is_full() || oldest_of_many() != greeters_.end(); }

Milliseconds Reception::patience() const { return has_place() ? kPatience : kWithoutPlace; }

// None: the guest has not said enough yet.
std::optional<Reception::Guest> Reception::look_at(Greeter& greeter, Milliseconds patience) const {
  const auto refused = [&](Error why) {
    return Guest{std::move(greeter.control), {}, std::move(why)};
  };
  for (;;) {
    if (greeter.greeting.is_over() && !wants_first_)
      return Guest{std::move(greeter.control), {}, std::nullopt};
    auto line = greeter.control.receive(kAtOnce);
    if (!line && line.error().code == ETIMEDOUT && BootClock::now() < greeter.came + patience)
      return std::nullopt;
    if (!line) return refused(std::move(line.error()));
    if (greeter.greeting.is_over())
      return Guest{std::move(greeter.control), std::move(*line), std::nullopt};
    if (auto taken = greeter.greeting.take(*line, greeter.control, kAtOnce); !taken)
      return refused(std::move(taken.error()));
  }
}

std::optional<Reception::Guest> Reception::look_at_all() {
  const Milliseconds patience = this->patience();
  for (auto greeter = greeters_.begin(); greeter != greeters_.end(); ++greeter)
    if (auto guest = look_at(*greeter, patience)) {
      greeters_.erase(greeter);
      return guest;
    }
  return std::nullopt;
}

Result<void> Reception::wait(BootTime deadline) {
  std::vector<pollfd> fds;
  for (const Greeter& greeter : greeters_) fds.push_back({greeter.control.fd(), POLLIN, 0});
  // They stand in order of arrival.
  if (!greeters_.empty()) deadline = std::min(deadline, greeters_.front().came + patience());
  const bool listens = listener_ != nullptr && has_place();
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
