// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/netdevs.hpp"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

// The highest attribute that is read; the kernel's own list grows with each release.
constexpr int kPermanentAddressAttribute = 54;  // IFLA_PERM_ADDRESS, which older headers lack
constexpr int kLinkAttributes = kPermanentAddressAttribute;

Error bad_message(const char* what) { return {EBADMSG, "reading the kernel's answer about", what}; }

std::string hardware_address(nlattr* attribute) {
  const auto* bytes = static_cast<const unsigned char*>(nla_data(attribute));
  std::string text;
  for (int at = 0; at < nla_len(attribute); ++at) {
    std::array<char, 4> pair{};
    std::snprintf(pair.data(), pair.size(), "%02x", bytes[at]);
    text += (at == 0 ? "" : ":");
    text += pair.data();
  }
  return text;
}

// The words of operstate in sysfs (Linux net/core/net-sysfs.c).
std::string operstate_word(unsigned state) {
  constexpr std::array<const char*, 7> kWords{"unknown", "notpresent", "down", "lowerlayerdown",
                                              "testing", "dormant",    "up"};
  return state < kWords.size() ? kWords[state] : "unknown";
}

Field<unsigned> limit(nlattr* attribute) {
  // An upper limit of 0 means that the driver sets none.
  if (attribute == nullptr || nla_get_u32(attribute) == 0) return {};
  return nla_get_u32(attribute);
}

// Asks by the index, or by the name where `link` is 0.
Result<Netdev> ask_link(NetlinkSocket& socket, int link, const std::string& name) {
  ifinfomsg header{};
  header.ifi_index = link;
  const NetlinkMessage question = netlink_message(RTM_GETLINK, 0, header);
  if (!question || nla_put_u32(question.get(), IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) < 0 ||
      (link == 0 && nla_put_string(question.get(), IFLA_IFNAME, name.c_str()) < 0))
    return fail(ENOMEM, "asking about interface", name);
  Netdev netdev;
  const auto answered = socket.ask(*question, [&](nlmsghdr& message) {
    return parse_link(message).map([&](Netdev parsed) { netdev = std::move(parsed); });
  });
  if (!answered) return fail(answered.error().code, "asking about interface", name);
  return netdev;
}

Field<Netdev> look_at_netdev(NetlinkSocket& socket, const std::string& name) {
  // Without a free descriptor if_nametoindex(3) would say ENOENT, as if there were no such
  // interface (glibc, __opensock()).
  const auto found = ask_link(socket, 0, name);
  if (!found) return Field<Netdev>::from(fail(found.error()));
  const int link = found->index;
  // Reads the addresses first: they often come right after the link is up, and must not be seen
  // with the link still down.
  auto addresses = ask_addresses(socket, link);
  if (!addresses) return Field<Netdev>::from(fail(std::move(addresses.error())));
  auto netdev = ask_link(socket, link, name);
  if (!netdev) return Field<Netdev>::from(fail(std::move(netdev.error())));
  netdev->addresses = std::move(*addresses);
  const auto routed = has_default_route(socket, link);
  netdev->default_route = routed ? Field<bool>{*routed} : Field<bool>::unreadable(routed.error());
  return std::move(*netdev);
}

// Asks for the entries of a table that `question` describes; `take` gets each. A null `question`
// means out of memory.
Result<void> dump(NetlinkSocket& socket, const NetlinkMessage& question, const char* what,
                  const OnMessage& take) {
  if (!question) return fail(ENOMEM, "asking for", what);
  const auto answered = socket.ask(*question, take);
  if (!answered) return fail(answered.error().code, "asking for", what);
  return {};
}

// The interface indices in an RTA_MULTIPATH attribute, up to the first malformed entry.
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

Result<Netdev> parse_link(nlmsghdr& message) {
  std::array<nla_policy, kLinkAttributes + 1> policy{};
  policy[IFLA_IFNAME].type = NLA_STRING;
  for (const int at : {IFLA_MTU, IFLA_MIN_MTU, IFLA_MAX_MTU})
    policy[static_cast<std::size_t>(at)].type = NLA_U32;
  for (const int at : {IFLA_OPERSTATE, IFLA_CARRIER})
    policy[static_cast<std::size_t>(at)].type = NLA_U8;
  std::array<nlattr*, kLinkAttributes + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWLINK ||
      nlmsg_parse(&message, sizeof(ifinfomsg), attributes.data(), kLinkAttributes, policy.data()) <
          0 ||
      attributes[IFLA_IFNAME] == nullptr || attributes[IFLA_MTU] == nullptr)
    return fail(bad_message("a link"));
  const auto& header = *static_cast<const ifinfomsg*>(nlmsg_data(&message));
  Netdev netdev;
  netdev.name = attribute_text(attributes[IFLA_IFNAME]);
  netdev.index = header.ifi_index;
  netdev.link_up = (header.ifi_flags & IFF_UP) != 0;
  netdev.mtu = nla_get_u32(attributes[IFLA_MTU]);
  netdev.mtu_min = limit(attributes[IFLA_MIN_MTU]);
  netdev.mtu_max = limit(attributes[IFLA_MAX_MTU]);
  if (attributes[IFLA_ADDRESS] != nullptr) netdev.mac = hardware_address(attributes[IFLA_ADDRESS]);
  if (attributes[kPermanentAddressAttribute] != nullptr)
    netdev.permanent_mac = hardware_address(attributes[kPermanentAddressAttribute]);
  netdev.operstate = operstate_word(
      attributes[IFLA_OPERSTATE] != nullptr ? nla_get_u8(attributes[IFLA_OPERSTATE]) : 0U);
  // For a link that is down the kernel always reports no carrier, even with a connected cable.
  if (netdev.link_up && attributes[IFLA_CARRIER] != nullptr)
    netdev.carrier = nla_get_u8(attributes[IFLA_CARRIER]) != 0;
  return netdev;
}

Result<FoundAddress> parse_address(nlmsghdr& message) {
  std::array<nlattr*, kAddressProtocolAttribute + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWADDR ||
      nlmsg_parse(&message, sizeof(ifaddrmsg), attributes.data(), kAddressProtocolAttribute,
                  nullptr) < 0)
    return fail(bad_message("an address"));
  const auto& header = *static_cast<const ifaddrmsg*>(nlmsg_data(&message));
  FoundAddress result{static_cast<int>(header.ifa_index), header.ifa_family, {}};
  if (header.ifa_family != AF_INET && header.ifa_family != AF_INET6) return result;
  // rtnetlink(7): on a point-to-point link IFA_ADDRESS is the peer's address; IPv6 has IFA_LOCAL
  // only there.
  nlattr* own = attributes[IFA_LOCAL] != nullptr ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
  const int length = header.ifa_family == AF_INET ? 4 : 16;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (own == nullptr || nla_len(own) != length ||
      ::inet_ntop(header.ifa_family, nla_data(own), text.data(), text.size()) == nullptr)
    return fail(bad_message("an address"));
  result.address.text = std::string{text.data()} + "/" + std::to_string(header.ifa_prefixlen);
  nlattr* protocol = attributes[kAddressProtocolAttribute];
  result.address.ours = protocol != nullptr && nla_get_u8(protocol) == kAddressProtocol;
  // For IPv4 one of these bits has another meaning.
  if (header.ifa_family == AF_INET6) {
    const std::uint32_t flags =
        attributes[IFA_FLAGS] != nullptr ? nla_get_u32(attributes[IFA_FLAGS]) : header.ifa_flags;
    result.address.tentative = (flags & IFA_F_TENTATIVE) != 0;
    result.address.duplicate = (flags & IFA_F_DADFAILED) != 0;
  }
  return result;
}

Result<std::vector<LinkAddress>> ask_addresses(NetlinkSocket& socket, int link) {
  return consistent([&]() -> Result<std::vector<LinkAddress>> {
    std::vector<LinkAddress> addresses;
    for (const int family : {AF_INET, AF_INET6}) {
      ifaddrmsg header{};
      header.ifa_family = static_cast<std::uint8_t>(family);
      header.ifa_index = static_cast<std::uint32_t>(link);
      const auto answered = dump(socket, netlink_message(RTM_GETADDR, NLM_F_DUMP, header),
                                 "interface addresses", [&](nlmsghdr& message) {
                                   return parse_address(message).map([&](FoundAddress found) {
                                     // An older kernel sends the addresses of all links, and one
                                     // without IPv6 those of all families.
                                     if (found.link == link && found.family == family)
                                       addresses.push_back(std::move(found.address));
                                   });
                                 });
      if (!answered) return fail(answered.error());
    }
    return addresses;
  });
}

std::vector<Field<Netdev>> look_at_netdevs(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  if (!socket) return {names.size(), Field<Netdev>::unreadable(socket.error())};
  std::vector<Field<Netdev>> netdevs;
  netdevs.reserve(names.size());
  for (const std::string& name : names) netdevs.push_back(look_at_netdev(*socket, name));
  return netdevs;
}

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

Result<bool> has_default_route(NetlinkSocket& socket, int link) {
  return consistent([&]() -> Result<bool> {
    bool has_one = false;
    for (const int family : {AF_INET, AF_INET6}) {
      rtmsg header{};
      header.rtm_family = static_cast<std::uint8_t>(family);
      header.rtm_table = RT_TABLE_MAIN;
      NetlinkMessage question = netlink_message(RTM_GETROUTE, NLM_F_DUMP, header);
      if (question && nla_put_u32(question.get(), RTA_OIF, static_cast<std::uint32_t>(link)) < 0)
        question.reset();
      const auto answered = dump(socket, question, "routes", [&](nlmsghdr& message) {
        return parse_default_route(message).map(
            [&](const std::vector<int>& links) { has_one = has_one || contains(links, link); });
      });
      // The table exists only once it has a route, and the link may be gone.
      const bool none =
          !answered && (answered.error().code == ENOENT || answered.error().code == ENODEV);
      if (!answered && !none) return fail(answered.error());
    }
    return has_one;
  });
}

}  // namespace pvrdma::probes
