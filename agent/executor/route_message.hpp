// What libnl-route's functions make, in owners of ours.
#pragma once

#include <netlink/route/link.h>

#include "agent/base/handle.hpp"
#include "agent/base/netlink.hpp"

namespace pvrdma::executor {

using RouteLink = Handle<rtnl_link, rtnl_link_put>;

// The message that a rtnl_…_build_…_request() makes of its arguments. Null: no memory for it.
template <typename Build, typename... Arguments>
[[nodiscard]] NetlinkMessage built_by(Build build, Arguments... arguments) {
  nl_msg* message = nullptr;
  return build(arguments..., &message) < 0 ? nullptr : NetlinkMessage{message};
}

// Changes of a link that `change` sets on an empty one, and nothing else: the rest may have changed
// since anybody looked. Null: no memory for it, as where `change` returns less than 0.
template <typename Change>
[[nodiscard]] NetlinkMessage link_change(int index, Change change) {
  const RouteLink link{rtnl_link_alloc()};
  const RouteLink changes{rtnl_link_alloc()};
  if (!link || !changes || change(changes.get()) < 0) return nullptr;
  rtnl_link_set_ifindex(link.get(), index);
  return built_by(rtnl_link_build_change_request, link.get(), changes.get(), 0);
}

}  // namespace pvrdma::executor
