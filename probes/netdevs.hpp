// SPDX-License-Identifier: GPL-2.0-or-later
// Network interfaces over rtnetlink: only the requested ones, with their addresses and whether a
// default route uses them. From Linux 4.20 on the data of other interfaces, such as thousands of
// addresses on a cluster node, is neither sent nor read.
//
// Parsing is separate from the socket, and uses libnl-3's parser of attributes: libnl-route's
// objects (3.7) lack the limits of the MTU, and loading that library costs the daemon 400 KiB.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/netlink.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// RTM_NEWLINK (rtnetlink(7)) -> everything except addresses, `settled` and `owner`. EBADMSG:
// another message.
[[nodiscard]] Result<Netdev> parse_link(nlmsghdr& message);

// The mark of an address set by us (IFA_PROTO, Linux 5.18): a value that no routing protocol or
// network manager uses (/etc/iproute2/rt_addrprotos).
inline constexpr int kAddressProtocolAttribute = 11;  // IFA_PROTO, which older headers lack
inline constexpr std::uint8_t kAddressProtocol = 0xA7;

struct FoundAddress {
  int link = 0;    // interface index
  int family = 0;  // AF_INET, AF_INET6, …
  LinkAddress address;
};

// RTM_NEWADDR. The link's own address, not the peer's. Empty text: a family other than IP.
[[nodiscard]] Result<FoundAddress> parse_address(nlmsghdr& message);

// The addresses of the link of that index, in the kernel's order, IPv4 first. ENODEV: no such link.
[[nodiscard]] Result<std::vector<LinkAddress>> ask_addresses(NetlinkSocket& socket, int link);

// One field for each name, in that order; absent: no such interface in this network namespace.
// Netdev::settled and Netdev::owner are left absent; probes/udev.hpp and probes/link_owner.hpp ask
// udev and the network managers for them.
[[nodiscard]] std::vector<Field<Netdev>> look_at_netdevs(const std::vector<std::string>& names);

// RTM_NEWROUTE (rtnetlink(7)) -> the interface indices of a unicast default route of the main
// table; empty for any other route. EBADMSG: another message.
[[nodiscard]] Result<std::vector<int>> parse_default_route(nlmsghdr& message);

// Whether a default route of IPv4 or IPv6 uses the link of that index.
[[nodiscard]] Result<bool> has_default_route(NetlinkSocket& socket, int link);

}  // namespace pvrdma::probes
