// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/walk.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "agent/ctl/text.hpp"
#include "agent/tools/mtu/interface.hpp"

namespace pvrdma::ctl::pmtu {

Walk::Walk(std::string host, std::string interface)
    : bound_to_(std::move(interface)), started_(BootClock::now()) {
  seen_.host = std::move(host);
}

void Walk::begin(const Addresses& addresses, BootTime now) {
  if (!addresses) {
    seen_.error = addresses.error();
    return end(now);
  }
  for (const Address& address : *addresses) {
    auto socket = EchoSocket::open(address, bound_to_);
    if (!socket) {
      // The first address is the one that a program would use: what is wrong with it is told.
      if (!seen_.error) seen_.error = std::move(socket.error());
      continue;
    }
    seen_.error.reset();
    seen_.address = address.text;
    seen_.raw_socket = socket->is_raw();
    socket_ = std::move(*socket);
    search_.emplace(address.family() == Family::Ipv4 ? kFloorIpv4 : kFloorIpv6);
    return send(now);
  }
  end(now);
}

void Walk::go_on(BootTime now) {
  while (const auto event = socket_->receive())
    std::visit([&](const auto& what) { note(what, now); }, *event);
  if (now >= answer_by_) search_->expired();
  send(now);
}

void Walk::note(const Answered& event, BootTime now) {
  if (event.sequence == 0 || event.sequence > sent_.size()) return;
  const Sent& probe = sent_[event.sequence - 1U];
  pace_.sample(now - probe.at);
  search_->answered(probe.size);
}

void Walk::note(const TooBig& event, BootTime now) {
  if (event.sequence == 0 || event.sequence > sent_.size()) return;
  // It may be wrong, but an answer that shows so would come no later than others.
  if (event.sequence == sent_.size()) answer_by_ = std::min(answer_by_, now + pace_.wait(1));
  search_->refused(sent_[event.sequence - 1U].size, {event.router, event.mtu});
}

void Walk::note(const Unreachable& event, BootTime) {
  seen_.said_unreachable = Error{event.code, event.from + " says", ""};
}

void Walk::send(BootTime now) {
  while (const auto probe = search_->wanted()) {
    const auto sequence = static_cast<std::uint16_t>(sent_.size() + 1);
    const auto sending = socket_->send(sequence, probe->size);
    if (!sending) {
      seen_.error = sending.error();
      return end(now);
    }
    if (const auto* here = std::get_if<TooLargeHere>(&*sending)) {
      search_->too_large_here(probe->size, here->link_mtu);
      continue;
    }
    sent_.push_back({probe->size, now});
    search_->sent(probe->size);
    answer_by_ = now + pace_.wait(probe->attempt);
    seen_.trying = probe->size;
    seen_.smallest = seen_.smallest == 0 ? probe->size : std::min(seen_.smallest, probe->size);
  }
  seen_.outcome = search_->outcome();
  if (search_->finished()) end(now);
}

void Walk::end(BootTime now) {
  if (search_) seen_.outcome = search_->outcome();
  if (!bound_to_.empty())
    seen_.interface = bound_to_;
  else if (socket_ && seen_.outcome.link_mtu)
    seen_.interface = interface_of(socket_->fd(), *seen_.outcome.link_mtu);
  seen_.took = now - started_;
  seen_.done = true;
}

void Walk::give_up(BootTime now, Milliseconds after) {
  if (!socket_)
    seen_.error = Error{0, "resolving", seen_.host + ": no answer within " + span(after)};
  end(now);
}

std::optional<BootTime> Walk::deadline() const {
  if (!socket_ || done()) return std::nullopt;
  return answer_by_;
}

}  // namespace pvrdma::ctl::pmtu
