#include "agent/executor/route_socket.hpp"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace pvrdma::executor {

namespace {

using probes::NetlinkMessage;

constexpr int kDumpTries = 3;

NetlinkMessage new_message(int type, int flags) {
  return NetlinkMessage{nlmsg_alloc_simple(type, NLM_F_REQUEST | flags)};
}

std::string numbered(int index) { return "link " + std::to_string(index); }

// The kernel warns in its log about a question longer than its table's header.
std::size_t header_length(int type) {
  switch (type) {
    case RTM_GETADDR:
      return sizeof(ifaddrmsg);
    case RTM_GETROUTE:
      return sizeof(rtmsg);
    case RTM_GETNEIGH:
      return sizeof(ndmsg);
    default:
      return sizeof(ifinfomsg);
  }
}

struct ParsedAddress {
  unsigned char family = AF_UNSPEC;
  std::array<std::uint8_t, sizeof(in6_addr)> bytes{};
  int length = 0;  // of `bytes`
  unsigned prefix = 0;
};

std::optional<ParsedAddress> parse_address(const std::string& text) {
  ParsedAddress parsed;
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string host = text.substr(0, slash);
  if (::inet_pton(AF_INET, host.c_str(), parsed.bytes.data()) == 1) {
    parsed.family = AF_INET;
    parsed.length = sizeof(in_addr);
  } else if (::inet_pton(AF_INET6, host.c_str(), parsed.bytes.data()) == 1) {
    parsed.family = AF_INET6;
    parsed.length = sizeof(in6_addr);
  } else {
    return std::nullopt;
  }
  const char* const last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data() + slash + 1, last, parsed.prefix);
  if (code != std::errc{} || end != last ||
      parsed.prefix > 8U * static_cast<unsigned>(parsed.length))
    return std::nullopt;
  return parsed;
}

// The kernel sets none by itself (as `ip address add` shows); network managers do.
void put_broadcast(nl_msg& message, const ParsedAddress& address) {
  if (address.family != AF_INET || address.prefix == 0 || address.prefix > 30) return;
  std::uint32_t bits = 0;
  std::memcpy(&bits, address.bytes.data(), sizeof bits);
  bits |= htonl(~std::uint32_t{0} >> address.prefix);
  nla_put_u32(&message, IFA_BROADCAST, bits);
}

}  // namespace

Result<LinkFacts> parse_link_facts(nlmsghdr& message) {
  std::array<nlattr*, IFLA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWLINK ||
      nlmsg_parse(&message, sizeof(ifinfomsg), attributes.data(), IFLA_MAX, nullptr) < 0 ||
      attributes[IFLA_IFNAME] == nullptr || attributes[IFLA_MTU] == nullptr)
    return fail(EBADMSG, "reading", "a link message of the kernel");
  const auto& header = *static_cast<const ifinfomsg*>(nlmsg_data(&message));
  const auto index_in = [&](int type) {
    return attributes.at(static_cast<std::size_t>(type)) == nullptr
               ? 0
               : static_cast<int>(nla_get_u32(attributes.at(static_cast<std::size_t>(type))));
  };
  LinkFacts link;
  link.index = header.ifi_index;
  link.name = probes::attribute_text(attributes[IFLA_IFNAME]);
  link.mtu = nla_get_u32(attributes[IFLA_MTU]);
  link.up = (header.ifi_flags & IFF_UP) != 0;
  link.master = index_in(IFLA_MASTER);
  if (attributes[IFLA_LINK_NETNSID] == nullptr) link.lower = index_in(IFLA_LINK);
  return link;
}

Result<RouteSocket> RouteSocket::open() {
  return probes::NetlinkSocket::open(NETLINK_ROUTE).map([](probes::NetlinkSocket socket) {
    return RouteSocket{std::move(socket)};
  });
}

Result<void> RouteSocket::dump(int type, unsigned char family, const probes::OnMessage& take) {
  std::vector<std::vector<char>> copies;
  const auto copy = [&](nlmsghdr& message) -> Result<void> {
    const auto* bytes = reinterpret_cast<const char*>(&message);
    copies.emplace_back(bytes, bytes + message.nlmsg_len);
    return {};
  };
  Result<void> asked;
  for (int attempt = 0; attempt < kDumpTries; ++attempt) {
    copies.clear();
    const auto question = new_message(type, NLM_F_DUMP);
    // All headers begin with the family; nothing else is asked for.
    std::array<unsigned char, sizeof(ifinfomsg)> header{family};
    if (!question ||
        nlmsg_append(question.get(), header.data(), header_length(type), NLMSG_ALIGNTO) < 0)
      return fail(ENOMEM, "asking the kernel", "for a table");
    asked = socket_.ask(*question, copy);
    if (asked || asked.error().code != EINTR) break;
  }
  if (!asked) return asked;
  // Only a whole and consistent dump reaches the caller.
  for (auto& bytes : copies)
    if (auto taken = take(*reinterpret_cast<nlmsghdr*>(bytes.data())); !taken) return taken;
  return {};
}

Result<std::vector<LinkFacts>> RouteSocket::links() {
  std::vector<LinkFacts> links;
  auto dumped = dump(RTM_GETLINK, AF_UNSPEC, [&](nlmsghdr& message) {
    return parse_link_facts(message).map([&](LinkFacts link) { links.push_back(std::move(link)); });
  });
  if (!dumped) return fail(std::move(dumped.error()));
  return links;
}

Result<LinkFacts> RouteSocket::link(int index) {
  const auto question = new_message(RTM_GETLINK, 0);
  ifinfomsg header{};
  header.ifi_index = index;
  if (!question || nlmsg_append(question.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0)
    return fail(ENOMEM, "looking at", numbered(index));
  Result<LinkFacts> found = fail(ENODEV, "looking at", numbered(index));
  auto asked = socket_.ask(*question, [&](nlmsghdr& message) -> Result<void> {
    found = parse_link_facts(message);
    return {};
  });
  if (!asked) return fail(asked.error().code, "looking at", numbered(index));
  return found;
}

Result<void> RouteSocket::request(nl_msg& message, const char* doing, const std::string& what) {
  nlmsg_hdr(&message)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
  const auto asked = socket_.ask(message, [](nlmsghdr&) -> Result<void> { return {}; });
  if (!asked) return fail(asked.error().code, doing, what);
  return {};
}

Result<void> RouteSocket::set_up(int index, bool up) {
  const auto message = new_message(RTM_NEWLINK, 0);
  ifinfomsg header{};
  header.ifi_index = index;
  // Only this one flag: the others may have changed since anybody looked.
  header.ifi_change = IFF_UP;
  header.ifi_flags = up ? unsigned{IFF_UP} : 0U;
  const char* const doing = up ? "bringing up" : "taking down";
  if (!message || nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0)
    return fail(ENOMEM, doing, numbered(index));
  return request(*message, doing, numbered(index));
}

Result<void> RouteSocket::set_mtu(int index, unsigned mtu) {
  const auto message = new_message(RTM_NEWLINK, 0);
  ifinfomsg header{};
  header.ifi_index = index;
  const std::string doing = "setting MTU " + std::to_string(mtu) + " of";
  if (!message || nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0 ||
      nla_put_u32(message.get(), IFLA_MTU, mtu) < 0)
    return fail(ENOMEM, doing, numbered(index));
  return request(*message, doing.c_str(), numbered(index));
}

Result<bool> RouteSocket::add_address(int index, const std::string& address) {
  const auto parsed = parse_address(address);
  if (!parsed) return fail(EINVAL, "adding address", address);
  const auto message = new_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg header{};
  header.ifa_family = parsed->family;
  header.ifa_prefixlen = static_cast<unsigned char>(parsed->prefix);
  header.ifa_index = static_cast<unsigned>(index);
  if (!message || nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0 ||
      nla_put(message.get(), IFA_LOCAL, parsed->length, parsed->bytes.data()) < 0 ||
      nla_put(message.get(), IFA_ADDRESS, parsed->length, parsed->bytes.data()) < 0)
    return fail(ENOMEM, "adding address", address);
  put_broadcast(*message, *parsed);
  const auto added = request(*message, "adding address", address);
  if (added) return true;
  if (added.error().code == EEXIST) return false;
  return fail(added.error());
}

}  // namespace pvrdma::executor
