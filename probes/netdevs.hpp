// SPDX-License-Identifier: GPL-2.0-or-later
// Network interfaces over rtnetlink: only those asked for, with their addresses and whether a
// default route leaves by them. What other interfaces have, thousands of addresses on a node of a
// cluster, is neither sent nor read from Linux 4.20 on.
//
// Messages are parsed apart from the socket, with libnl-3's own parser of attributes: libnl-route's
// objects (3.7) have no limits of the MTU, and loading it costs the daemon 400 KiB.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/netlink.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// RTM_NEWLINK (rtnetlink(7)) -> everything but addresses, `settled` and `owner`. EBADMSG: not such
// a message.
[[nodiscard]] Result<Netdev> parse_link(nlmsghdr& message);

// Marks an address as set by us (IFA_PROTO, Linux 5.18): one of the values that no routing protocol
// or network manager has claimed (/etc/iproute2/rt_addrprotos).
inline constexpr int kAddressProtocolAttribute = 11;  // IFA_PROTO, which older headers lack
inline constexpr std::uint8_t kAddressProtocol = 0xA7;

struct FoundAddress {
  int link = 0;    // interface index
  int family = 0;  // AF_INET, AF_INET6, …
  LinkAddress address;
};

// RTM_NEWADDR. The own address, not the peer's. Empty text: of a family other than IP.
[[nodiscard]] Result<FoundAddress> parse_address(nlmsghdr& message);

// Those of the link of that index, in the kernel's order: IPv4 first. ENODEV: no such link.
[[nodiscard]] Result<std::vector<LinkAddress>> ask_addresses(NetlinkSocket& socket, int link);

// One field for each name, in that order; absent: no such interface in this network namespace.
// Netdev::settled and Netdev::owner are left absent: they are udev's and the network managers' to
// know (probes/settled.hpp, probes/link_owner.hpp).
[[nodiscard]] std::vector<Field<Netdev>> look_at_netdevs(const std::vector<std::string>& names);

// RTM_NEWROUTE (rtnetlink(7)) -> the interface indices it leaves by, where it is a unicast default
// route of the main table; else none. EBADMSG: not such a message.
[[nodiscard]] Result<std::vector<int>> parse_default_route(nlmsghdr& message);

// Whether a default route of IPv4 or IPv6 leaves by the link of that index.
[[nodiscard]] Result<bool> has_default_route(NetlinkSocket& socket, int link);

}  // namespace pvrdma::probes
