// SavedLink: what a link loses when it is taken down, kept so that it can be given back.
//
// Taking a link down deletes its IPv6 addresses (Linux net/ipv6/addrconf.c, unless
// keep_addr_on_down is set), every route over it but the kernel's own, which come back by
// themselves, and its permanent neighbours. IPv4 addresses stay. The kernel's own messages are kept
// byte by byte and sent back, as `ip route save` does, so that nothing of them is lost that we do
// not know of.
#pragma once

#include <linux/netlink.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/executor/route_socket.hpp"

namespace pvrdma::executor {

struct SavedItem {
  std::string text;  // for a person: "address fd00::1/64", "route 10.1.0.0/16"
  std::string key;   // what makes it the same thing again
  std::vector<char> message;
  bool by_gateway = false;  // needs the routes without a gateway to be there first
};

struct SavedLink {
  std::vector<SavedItem> items;  // in the order in which they are to be restored
  // Why what hangs on the link could not all be given back; empty: it can.
  std::string obstacle;
};

// One message of a dump -> an item, where it hangs on that link and would be lost. EOPNOTSUPP: it
// would be lost and cannot be given back (its `what` says what it is). EBADMSG: no such message.
[[nodiscard]] Result<std::optional<SavedItem>> address_item(nlmsghdr& message, int index);
[[nodiscard]] Result<std::optional<SavedItem>> route_item(nlmsghdr& message, int index);
[[nodiscard]] Result<std::optional<SavedItem>> neighbour_item(nlmsghdr& message, int index);

[[nodiscard]] Result<SavedLink> save_link(RouteSocket& socket, int index);

struct Restored {
  std::vector<std::string> again;    // given back
  std::vector<std::string> missing;  // still not there, by a look at the kernel's tables
};

// Gives back whatever of `saved` is not there. An Error: the tables could not be read.
[[nodiscard]] Result<Restored> restore_link(RouteSocket& socket, int index, const SavedLink& saved);

}  // namespace pvrdma::executor
