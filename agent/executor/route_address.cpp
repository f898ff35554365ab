// The addresses of a link: those parts of RouteSocket that put one into a message or take it out.
#include <arpa/inet.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "agent/executor/route_socket.hpp"
#include "probes/netdevs.hpp"

namespace pvrdma::executor {

namespace {

using probes::NetlinkMessage;

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

// A request about one address of a link; null: no memory for it.
NetlinkMessage address_message(int type, int flags, int index, const ParsedAddress& address) {
  NetlinkMessage message{nlmsg_alloc_simple(type, NLM_F_REQUEST | flags)};
  ifaddrmsg header{};
  header.ifa_family = address.family;
  header.ifa_prefixlen = static_cast<unsigned char>(address.prefix);
  header.ifa_index = static_cast<unsigned>(index);
  if (!message || nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0 ||
      nla_put(message.get(), IFA_LOCAL, address.length, address.bytes.data()) < 0 ||
      nla_put(message.get(), IFA_ADDRESS, address.length, address.bytes.data()) < 0)
    return nullptr;
  return message;
}

// With the first address of a subnet the kernel would remove all others of it, whosever they are.
// systemd turns this on for every link (sysctl.d/50-default.conf), other systems do not.
NetlinkMessage promote_secondaries_message(int index) {
  NetlinkMessage message{nlmsg_alloc_simple(RTM_SETLINK, NLM_F_REQUEST)};
  ifinfomsg header{};
  header.ifi_index = index;
  if (!message || nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO) < 0)
    return nullptr;
  nlattr* const families = nla_nest_start(message.get(), IFLA_AF_SPEC);
  nlattr* const inet = nla_nest_start(message.get(), AF_INET);
  nlattr* const settings = nla_nest_start(message.get(), IFLA_INET_CONF);
  if (families == nullptr || inet == nullptr || settings == nullptr ||
      nla_put_u32(message.get(), IPV4_DEVCONF_PROMOTE_SECONDARIES, 1) < 0)
    return nullptr;
  nla_nest_end(message.get(), settings);
  nla_nest_end(message.get(), inet);
  nla_nest_end(message.get(), families);
  return message;
}

}  // namespace

Result<std::vector<LinkAddress>> RouteSocket::addresses(int index) {
  std::vector<LinkAddress> addresses;
  auto dumped = dump(RTM_GETADDR, AF_UNSPEC, [&](nlmsghdr& message) {
    return probes::parse_address(message).map([&](probes::InterfaceAddress found) {
      if (found.interface_index == index && !found.address.text.empty())
        addresses.push_back(std::move(found.address));
    });
  });
  if (!dumped) return fail(std::move(dumped.error()));
  return addresses;
}

Result<bool> RouteSocket::add_address(int index, const std::string& address) {
  const auto parsed = parse_address(address);
  if (!parsed) return fail(EINVAL, "adding address", address);
  const auto message = address_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, *parsed);
  // A kernel that does not know the mark passes over it.
  if (!message ||
      nla_put_u8(message.get(), probes::kAddressProtocolAttribute, probes::kAddressProtocol) < 0)
    return fail(ENOMEM, "adding address", address);
  put_broadcast(*message, *parsed);
  const auto added = request(*message, "adding address", address);
  if (added) return true;
  if (added.error().code == EEXIST) return false;
  return fail(added.error());
}

Result<void> RouteSocket::remove_address(int index, const std::string& address) {
  const auto parsed = parse_address(address);
  if (!parsed) return fail(EINVAL, "removing address", address);
  const auto message = address_message(RTM_DELADDR, 0, index, *parsed);
  const auto promotion = promote_secondaries_message(index);
  if (!message || !promotion) return fail(ENOMEM, "removing address", address);
  if (parsed->family == AF_INET)
    if (auto set = request(*promotion, "keeping other addresses beside", address); !set) return set;
  auto removed = request(*message, "removing address", address);
  if (!removed && removed.error().code == EADDRNOTAVAIL) return {};
  return removed;
}

}  // namespace pvrdma::executor
