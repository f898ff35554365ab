#include "agent/executor/route_socket.hpp"

#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <poll.h>

#include <cerrno>

#include "agent/executor/route_message.hpp"
#include "probes/netdevs.hpp"

namespace pvrdma::executor {

namespace {

std::string numbered(int index) { return "link " + std::to_string(index); }

}  // namespace

Result<RouteSocket> RouteSocket::open() {
  return NetlinkSocket::open(NETLINK_ROUTE).map([](NetlinkSocket socket) {
    return RouteSocket{std::move(socket)};
  });
}

Result<void> RouteSocket::request(const NetlinkMessage& message, const std::string& doing,
                                  const std::string& what) {
  if (!message) return fail(ENOMEM, doing, what);
  const auto asked = socket_.request(*message);
  if (!asked) return fail(asked.error().code, doing, what);
  return {};
}

Result<Netdev> RouteSocket::link(int index) {
  const auto question = built_by(rtnl_link_build_get_request, index, nullptr);
  if (!question) return fail(ENOMEM, "looking at", numbered(index));
  Result<Netdev> found = fail(ENODEV, "looking at", numbered(index));
  const auto asked = socket_.ask(*question, [&](nlmsghdr& message) -> Result<void> {
    found = probes::parse_link(message);
    return {};
  });
  if (!asked) return fail(asked.error().code, "looking at", numbered(index));
  return found;
}

Result<void> RouteSocket::bring_up(int index) {
  const auto up =
      link_change(index, [](rtnl_link* link) { return rtnl_link_set_flags(link, IFF_UP), 0; });
  return request(up, "bringing up", numbered(index));
}

Result<void> RouteSocket::set_mtu(int index, unsigned mtu) {
  const auto set =
      link_change(index, [&](rtnl_link* link) { return rtnl_link_set_mtu(link, mtu), 0; });
  return request(set, "setting MTU " + std::to_string(mtu) + " of", numbered(index));
}

Result<bool> RouteSocket::await_carrier(int index, Milliseconds patience) {
  auto news = NetlinkSocket::subscribe(NETLINK_ROUTE, {RTNLGRP_LINK});
  if (!news) return fail(news.error().code, "waiting for carrier of", numbered(index));
  const BootTime until = BootClock::now() + patience;
  for (;;) {
    const auto now = link(index);
    if (!now) return fail(now.error());
    const bool carrier = now->carrier.is(true);
    const Milliseconds left = until - BootClock::now();
    if (carrier || left <= Milliseconds{0}) return carrier;
    pollfd readable{news->fd(), POLLIN, 0};
    static_cast<void>(::poll(&readable, 1, static_cast<int>(left.count())));
    // What the news say is read from the link itself.
    while (news->read_events([](nlmsghdr&) {})) continue;
  }
}

}  // namespace pvrdma::executor
