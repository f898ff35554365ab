#include "agent/executor/route_socket.hpp"

#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "agent/base/handle.hpp"

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
  link.carrier = (header.ifi_flags & IFF_LOWER_UP) != 0;
  if (nlattr* mac = attributes[IFLA_ADDRESS]; mac != nullptr && nla_len(mac) == ETH_ALEN)
    std::memcpy(link.mac.data(), nla_data(mac), ETH_ALEN);
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

Result<bool> RouteSocket::await_carrier(int index, Milliseconds patience) {
  const Fd news{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  sockaddr_nl group{};
  group.nl_family = AF_NETLINK;
  group.nl_groups = RTMGRP_LINK;
  if (!news || ::bind(news.get(), reinterpret_cast<const sockaddr*>(&group), sizeof group) != 0)
    return fail(errno, "waiting for carrier of", numbered(index));
  const BootTime until = BootClock::now() + patience;
  for (;;) {
    const auto now = link(index);
    if (!now) return fail(now.error());
    const Milliseconds left = until - BootClock::now();
    if (now->carrier || left <= Milliseconds{0}) return now->carrier;
    pollfd readable{news.get(), POLLIN, 0};
    static_cast<void>(::poll(&readable, 1, static_cast<int>(left.count())));
    // What the news say is read from the link itself.
    std::array<char, 256> drain{};
    while (::recv(news.get(), drain.data(), drain.size(), MSG_TRUNC) > 0) continue;
  }
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

}  // namespace pvrdma::executor
