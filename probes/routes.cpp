#include "probes/routes.hpp"

#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "agent/base/netlink.hpp"

namespace pvrdma::probes {

namespace {

// The interface indices in a RTA_MULTIPATH attribute, as far as it is well-formed.
std::vector<int> links_of_next_hops(const nlattr* multipath) {
  std::vector<int> links;
  const auto* at = static_cast<const char*>(nla_data(multipath));
  auto left = static_cast<std::size_t>(nla_len(multipath));
  while (left >= sizeof(rtnexthop)) {
    rtnexthop hop{};
    std::memcpy(&hop, at, sizeof hop);
    if (hop.rtnh_len < sizeof hop) break;
    links.push_back(hop.rtnh_ifindex);
    const std::size_t step = RTNH_ALIGN(hop.rtnh_len);
    if (step > left) break;
    at += step;
    left -= step;
  }
  return links;
}

}  // namespace

Result<std::vector<int>> parse_default_route(nlmsghdr& message) {
  std::array<nlattr*, RTA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWROUTE ||
      nlmsg_parse(&message, sizeof(rtmsg), attributes.data(), RTA_MAX, nullptr) < 0)
    return fail(EBADMSG, "reading", "a route");
  rtmsg header{};
  std::memcpy(&header, nlmsg_data(&message), sizeof header);
  std::vector<int> links;
  if (header.rtm_dst_len != 0 || header.rtm_type != RTN_UNICAST ||
      header.rtm_table != RT_TABLE_MAIN)
    return links;
  if (attributes[RTA_OIF] != nullptr && nla_len(attributes[RTA_OIF]) >= int{sizeof(std::uint32_t)})
    links.push_back(static_cast<int>(nla_get_u32(attributes[RTA_OIF])));
  if (attributes[RTA_MULTIPATH] != nullptr)
    std::ranges::copy(links_of_next_hops(attributes[RTA_MULTIPATH]), std::back_inserter(links));
  return links;
}

Result<std::set<int>> links_of_default_routes() {
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  if (!socket) return fail(socket.error());
  return consistent([&]() -> Result<std::set<int>> {
    rtmsg header{};
    header.rtm_table = RT_TABLE_MAIN;
    const auto question = netlink_message(RTM_GETROUTE, NLM_F_DUMP, header);
    if (!question) return fail(ENOMEM, "asking for", "routes");
    std::set<int> links;
    const auto answered = socket->ask(*question, [&](nlmsghdr& message) {
      return parse_default_route(message).map(
          [&](const std::vector<int>& found) { links.insert(found.begin(), found.end()); });
    });
    if (!answered) return fail(answered.error().code, "asking for", "routes");
    return links;
  });
}

}  // namespace pvrdma::probes
