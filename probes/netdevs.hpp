// Network interfaces over rtnetlink: only those asked for, by name.
//
// Messages are parsed apart from the socket. Limits of the MTU are not in libnl-route's objects
// (3.7), so attributes are read with libnl-3's parser, and the probes need no libnl-route.
#pragma once

#include <linux/netlink.h>

#include <string>
#include <vector>

#include "agent/model/snapshot.hpp"

namespace pvrdma::probes {

// RTM_NEWLINK (rtnetlink(7)) -> everything but addresses and `settled`. EBADMSG: not such a
// message.
[[nodiscard]] Result<Netdev> parse_link(nlmsghdr& message);

struct InterfaceAddress {
  int interface_index = 0;
  std::string address;  // "192.168.30.201/24", "fe80::250:56ff:fe8a:9fc2/64"
};

// RTM_NEWADDR. The own address, not the peer's. Empty `address`: of a family other than IP.
[[nodiscard]] Result<InterfaceAddress> parse_address(nlmsghdr& message);

// One field for each name, in that order; absent: no such interface in this network namespace.
// Netdev::settled is left absent: it is udev's to know (probes/settled.hpp).
[[nodiscard]] std::vector<Field<Netdev>> look_at_netdevs(const std::vector<std::string>& names);

}  // namespace pvrdma::probes
