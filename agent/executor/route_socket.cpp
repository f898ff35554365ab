// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/executor/route_socket.hpp"

#include <linux/if.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <netlink/addr.h>
#include <netlink/attr.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/inet.h>
#include <poll.h>

#include <cerrno>

#include "agent/base/handle.hpp"
#include "agent/model/identifiers.hpp"
#include "probes/netdevs.hpp"

namespace pvrdma::executor {

namespace {

using RouteLink = Handle<rtnl_link, rtnl_link_put>;

// The message that a rtnl_…_build_…_request() makes from its arguments. Null: out of memory.
template <typename Build, typename... Arguments>
NetlinkMessage built_by(Build build, Arguments... arguments) {
  nl_msg* message = nullptr;
  return build(arguments..., &message) < 0 ? nullptr : NetlinkMessage{message};
}

// A message with the changes that `change` sets on an empty link, and nothing else, as the other
// settings may have changed since the last look. Null: out of memory, or `change` returned less
// than 0.
template <typename Change>
NetlinkMessage link_change(int index, Change change) {
  const RouteLink link{rtnl_link_alloc()};
  const RouteLink changes{rtnl_link_alloc()};
  if (!link || !changes || change(changes.get()) < 0) return nullptr;
  rtnl_link_set_ifindex(link.get(), index);
  return built_by(rtnl_link_build_change_request, link.get(), changes.get(), 0);
}

using NetAddress = Handle<nl_addr, nl_addr_put>;
using RouteAddress = Handle<rtnl_addr, rtnl_addr_put>;

NetAddress net_address(const InterfaceAddress& address) {
  return NetAddress{nl_addr_build(address.is_ipv6 ? AF_INET6 : AF_INET, address.bytes.data(),
                                  address.is_ipv6 ? 16 : 4)};
}

// The kernel sets no broadcast address by itself (see `ip address add`), but network managers do.
bool set_broadcast(rtnl_addr* whole, InterfaceAddress address) {
  if (address.is_ipv6 || address.prefix > 30) return true;
  for (unsigned bit = address.prefix; bit < 32; ++bit)
    address.bytes[bit / 8] |= static_cast<std::uint8_t>(0x80U >> bit % 8);
  const NetAddress broadcast = net_address(address);
  return broadcast && rtnl_addr_set_broadcast(whole, broadcast.get()) >= 0;
}

// One address of a link; null: out of memory.
RouteAddress link_address(int index, const InterfaceAddress& address) {
  const NetAddress local = net_address(address);
  RouteAddress whole{rtnl_addr_alloc()};
  if (!local || !whole) return nullptr;
  nl_addr_set_prefixlen(local.get(), static_cast<int>(address.prefix));
  rtnl_addr_set_ifindex(whole.get(), index);
  if (rtnl_addr_set_local(whole.get(), local.get()) < 0 || !set_broadcast(whole.get(), address))
    return nullptr;
  return whole;
}

// Without this setting the kernel removes all other addresses of a subnet together with the first
// one. systemd sets it for every link (sysctl.d/50-default.conf), other systems do not.
NetlinkMessage promote_secondaries(int index) {
  return link_change(index, [](rtnl_link* link) {
    return rtnl_link_inet_set_conf(link, IPV4_DEVCONF_PROMOTE_SECONDARIES, 1);
  });
}

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
    if (carrier || BootClock::now() >= until) return carrier;
    static_cast<void>(poll_until(news->fd(), POLLIN, until));
    // The content of the events is not used; the link is read again.
    while (news->read_events([](nlmsghdr&) {})) continue;
  }
}

Result<std::vector<LinkAddress>> RouteSocket::addresses(int index) {
  return probes::ask_addresses(socket_, index);
}

Result<bool> RouteSocket::add_address(int index, const std::string& address) {
  const auto parsed = parse_interface_address(address);
  if (!parsed) return fail(EINVAL, "adding address", address);
  const RouteAddress whole = link_address(index, *parsed);
  const auto message =
      whole ? built_by(rtnl_addr_build_add_request, whole.get(), NLM_F_EXCL) : nullptr;
  // libnl (3.7) has no function for the mark; a kernel that does not know the attribute ignores it.
  if (!message ||
      nla_put_u8(message.get(), probes::kAddressProtocolAttribute, probes::kAddressProtocol) < 0)
    return fail(ENOMEM, "adding address", address);
  // Otherwise our address goes when another program removes its own, if that is the subnet's first.
  if (!parsed->is_ipv6)
    static_cast<void>(request(promote_secondaries(index), "keeping addresses beside", address));
  const auto added = request(message, "adding address", address);
  if (added) return true;
  if (added.error().code == EEXIST) return false;
  return fail(added.error());
}

Result<void> RouteSocket::remove_address(int index, const std::string& address) {
  const auto parsed = parse_interface_address(address);
  if (!parsed) return fail(EINVAL, "removing address", address);
  const RouteAddress whole = link_address(index, *parsed);
  const auto message = whole ? built_by(rtnl_addr_build_delete_request, whole.get(), 0) : nullptr;
  if (!parsed->is_ipv6)
    if (auto set = request(promote_secondaries(index), "keeping other addresses beside", address);
        !set)
      return set;
  auto removed = request(message, "removing address", address);
  if (!removed && removed.error().code == EADDRNOTAVAIL) return {};
  return removed;
}

}  // namespace pvrdma::executor
