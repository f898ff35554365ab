// Which links default routes leave by, over rtnetlink.
#pragma once

#include <linux/netlink.h>

#include <set>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::probes {

// RTM_NEWROUTE (rtnetlink(7)) -> the interface indices it leaves by, where it is a unicast default
// route of the main table; else none. EBADMSG: not such a message.
[[nodiscard]] Result<std::vector<int>> parse_default_route(nlmsghdr& message);

// Of IPv4 and IPv6.
[[nodiscard]] Result<std::set<int>> links_of_default_routes();

}  // namespace pvrdma::probes
