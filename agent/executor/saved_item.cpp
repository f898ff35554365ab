// The parsers of saved_link.hpp: one message of the kernel's tables -> an item to keep, or none.
#include <arpa/inet.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "agent/executor/saved_link.hpp"
#include "probes/routes.hpp"

namespace pvrdma::executor {

namespace {

using Item = std::optional<SavedItem>;

// rta_expires of a dump is in clock_t ticks: USER_HZ, 100 in every Linux binary interface.
constexpr std::int32_t kTicksPerSecond = 100;

tl::unexpected<Error> bad_message() {
  return fail(EBADMSG, "reading", "a message of the kernel's tables");
}

void add_bytes(std::string& key, const nlattr* attribute) {
  key += '|';
  if (attribute == nullptr) return;
  key.append(static_cast<const char*>(nla_data(attribute)),
             static_cast<std::size_t>(nla_len(attribute)));
}

std::string key_of(char kind, std::initializer_list<unsigned> numbers,
                   std::initializer_list<const nlattr*> attributes) {
  std::string key{kind};
  for (const unsigned number : numbers) key += ',' + std::to_string(number);
  for (const nlattr* attribute : attributes) add_bytes(key, attribute);
  return key;
}

std::string address_text(unsigned char family, const nlattr* attribute) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int wanted = family == AF_INET ? int{sizeof(in_addr)} : int{sizeof(in6_addr)};
  if (attribute == nullptr || nla_len(attribute) < wanted ||
      ::inet_ntop(family, nla_data(attribute), text.data(), text.size()) == nullptr)
    return {};
  return text.data();
}

std::vector<char> bytes_of(const nlmsghdr& message) {
  const auto* bytes = reinterpret_cast<const char*>(&message);
  return {bytes, bytes + message.nlmsg_len};
}

bool is_ip(unsigned char family) { return family == AF_INET || family == AF_INET6; }

// The kernel takes a lifetime as RTA_EXPIRES (seconds), but gives it in RTA_CACHEINFO.
void append_expiry(std::vector<char>& message, const nlattr* cache_info) {
  if (cache_info == nullptr || nla_len(cache_info) < int{sizeof(rta_cacheinfo)}) return;
  rta_cacheinfo info{};
  std::memcpy(&info, nla_data(cache_info), sizeof info);
  if (info.rta_expires <= 0) return;
  message.resize(NLMSG_ALIGN(message.size()));
  const rtattr header{RTA_LENGTH(sizeof(std::uint32_t)), RTA_EXPIRES};
  const auto seconds = static_cast<std::uint32_t>(info.rta_expires / kTicksPerSecond) + 1;
  const auto append = [&](const void* data, std::size_t length) {
    const auto* bytes = static_cast<const char*>(data);
    message.insert(message.end(), bytes, bytes + length);
  };
  append(&header, sizeof header);
  append(&seconds, sizeof seconds);
  const auto length = static_cast<std::uint32_t>(message.size());
  std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
}

// True where the routes of a RTA_MULTIPATH attribute leave by that link.
bool leaves_by(const nlattr* multipath, int index) {
  const auto links = probes::links_of_next_hops(multipath);
  return std::find(links.begin(), links.end(), index) != links.end();
}

}  // namespace

Result<Item> address_item(nlmsghdr& message, int index) {
  std::array<nlattr*, IFA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWADDR ||
      nlmsg_parse(&message, sizeof(ifaddrmsg), attributes.data(), IFA_MAX, nullptr) < 0)
    return bad_message();
  auto& header = *static_cast<ifaddrmsg*>(nlmsg_data(&message));
  if (static_cast<int>(header.ifa_index) != index || !is_ip(header.ifa_family)) return Item{};
  nlattr* const flags = attributes[IFA_FLAGS];
  std::uint32_t bits = flags != nullptr ? nla_get_u32(flags) : header.ifa_flags;
  // Made and renewed by the kernel alone: it takes none from user space. (For IPv4 the same bit
  // means a secondary address, which stays.)
  if (header.ifa_family == AF_INET6 && (bits & IFA_F_TEMPORARY) != 0) return Item{};
  const nlattr* const own =
      attributes[IFA_LOCAL] != nullptr ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
  SavedItem item;
  item.key = key_of('a', {header.ifa_family, header.ifa_prefixlen}, {own});
  item.text = "address " + address_text(header.ifa_family, own) + "/" +
              std::to_string(header.ifa_prefixlen);
  item.message = bytes_of(message);
  // It was this link's a moment ago. Without this flag it stays tentative for a second or more, and
  // the kernel takes no route with a tentative source (net/ipv6/route.c, ip6_route_info_create).
  if (header.ifa_family == AF_INET6 && (bits & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) == 0 &&
      flags != nullptr) {
    bits |= IFA_F_NODAD;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(nla_data(flags)) -
                                                 reinterpret_cast<const char*>(&message));
    std::memcpy(item.message.data() + offset, &bits, sizeof bits);
  }
  return Item{std::move(item)};
}

Result<Item> route_item(nlmsghdr& message, int index) {
  std::array<nlattr*, RTA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWROUTE ||
      nlmsg_parse(&message, sizeof(rtmsg), attributes.data(), RTA_MAX, nullptr) < 0)
    return bad_message();
  rtmsg header{};
  std::memcpy(&header, nlmsg_data(&message), sizeof header);
  if (!is_ip(header.rtm_family) || (header.rtm_flags & RTM_F_CLONED) != 0) return Item{};
  if (header.rtm_protocol == RTPROT_KERNEL || header.rtm_protocol == RTPROT_REDIRECT) return Item{};
  const nlattr* const out = attributes[RTA_OIF];
  const bool by_link = out != nullptr && static_cast<int>(nla_get_u32(out)) == index;
  const nlattr* const to = attributes[RTA_DST];
  const std::string text = "route " + (to == nullptr ? "default"
                                                     : address_text(header.rtm_family, to) + "/" +
                                                           std::to_string(header.rtm_dst_len));
  // A nexthop object goes with the link, and its number cannot be asked for again; one that names
  // no link here (net.ipv4.nexthop_compat_mode = 0) may be of this link.
  if (attributes[RTA_NH_ID] != nullptr && (by_link || out == nullptr))
    return fail(EOPNOTSUPP, "keeping", text + " goes by a nexthop object");
  if (attributes[RTA_MULTIPATH] != nullptr && leaves_by(attributes[RTA_MULTIPATH], index))
    return fail(EOPNOTSUPP, "keeping", text + " has several paths");
  if (!by_link) return Item{};
  const unsigned table =
      attributes[RTA_TABLE] != nullptr ? nla_get_u32(attributes[RTA_TABLE]) : header.rtm_table;
  SavedItem item;
  item.text = text;
  item.key = key_of('r',
                    {header.rtm_family, table, header.rtm_type, header.rtm_tos, header.rtm_dst_len,
                     header.rtm_src_len},
                    {to, attributes[RTA_SRC], attributes[RTA_PRIORITY], attributes[RTA_GATEWAY],
                     attributes[RTA_VIA]});
  item.by_gateway = attributes[RTA_GATEWAY] != nullptr || attributes[RTA_VIA] != nullptr;
  item.message = bytes_of(message);
  // States of the nexthop (dead, no carrier) are the kernel's to set: it refuses them as input.
  header.rtm_flags &= RTNH_F_ONLINK;
  std::memcpy(item.message.data() + NLMSG_HDRLEN, &header, sizeof header);
  if (header.rtm_family == AF_INET6) append_expiry(item.message, attributes[RTA_CACHEINFO]);
  return Item{std::move(item)};
}

Result<Item> neighbour_item(nlmsghdr& message, int index) {
  std::array<nlattr*, NDA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWNEIGH ||
      nlmsg_parse(&message, sizeof(ndmsg), attributes.data(), NDA_MAX, nullptr) < 0)
    return bad_message();
  ndmsg header{};
  std::memcpy(&header, nlmsg_data(&message), sizeof header);
  if (header.ndm_ifindex != index || !is_ip(header.ndm_family) ||
      (header.ndm_state & NUD_PERMANENT) == 0)
    return Item{};
  SavedItem item;
  item.text = "neighbour " + address_text(header.ndm_family, attributes[NDA_DST]);
  item.key = key_of('n', {header.ndm_family}, {attributes[NDA_DST], attributes[NDA_LLADDR]});
  item.message = bytes_of(message);
  return Item{std::move(item)};
}

}  // namespace pvrdma::executor
