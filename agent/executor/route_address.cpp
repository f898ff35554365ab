// The addresses of a link: those parts of RouteSocket that put one into a message or take it out.
#include <linux/ip.h>
#include <netlink/addr.h>
#include <netlink/attr.h>
#include <netlink/route/addr.h>
#include <netlink/route/link/inet.h>

#include <cerrno>
#include <optional>

#include "agent/executor/route_message.hpp"
#include "agent/executor/route_socket.hpp"
#include "agent/model/address.hpp"
#include "probes/netdevs.hpp"

namespace pvrdma::executor {

namespace {

using NetAddress = Handle<nl_addr, nl_addr_put>;
using RouteAddress = Handle<rtnl_addr, rtnl_addr_put>;

NetAddress net_address(const InterfaceAddress& address) {
  return NetAddress{nl_addr_build(address.is_ipv6 ? AF_INET6 : AF_INET, address.bytes.data(),
                                  address.is_ipv6 ? 16 : 4)};
}

// The kernel sets none by itself (as `ip address add` shows); network managers do.
bool set_broadcast(rtnl_addr* whole, InterfaceAddress address) {
  if (address.is_ipv6 || address.prefix > 30) return true;
  for (unsigned bit = address.prefix; bit < 32; ++bit)
    address.bytes[bit / 8] |= static_cast<std::uint8_t>(0x80U >> bit % 8);
  const NetAddress broadcast = net_address(address);
  return broadcast && rtnl_addr_set_broadcast(whole, broadcast.get()) >= 0;
}

// One address of a link; null: no memory for it.
RouteAddress link_address(int index, const InterfaceAddress& address) {
  const NetAddress local = net_address(address);
  RouteAddress whole{rtnl_addr_alloc()};
  if (!local || !whole) return nullptr;
  nl_addr_set_prefixlen(local.get(), static_cast<int>(address.prefix));
  rtnl_addr_set_ifindex(whole.get(), index);
  if (rtnl_addr_set_local(whole.get(), local.get()) < 0 || !set_broadcast(whole.get(), address))
    return nullptr;
  return whole;
}

// With the first address of a subnet the kernel would remove all others of it, whosever they are.
// systemd turns this on for every link (sysctl.d/50-default.conf), other systems do not.
NetlinkMessage promote_secondaries(int index) {
  return link_change(index, [](rtnl_link* link) {
    return rtnl_link_inet_set_conf(link, IPV4_DEVCONF_PROMOTE_SECONDARIES, 1);
  });
}

}  // namespace

Result<std::vector<LinkAddress>> RouteSocket::addresses(int index) {
  auto all = probes::ask_addresses(socket_);
  if (!all) return fail(std::move(all.error()));
  std::vector<LinkAddress> addresses;
  for (auto& found : *all)
    if (found.interface_index == index) addresses.push_back(std::move(found.address));
  return addresses;
}

Result<bool> RouteSocket::add_address(int index, const std::string& address) {
  const auto parsed = parse_interface_address(address);
  if (!parsed) return fail(EINVAL, "adding address", address);
  const RouteAddress whole = link_address(index, *parsed);
  const auto message =
      whole ? built_by(rtnl_addr_build_add_request, whole.get(), NLM_F_EXCL) : nullptr;
  // libnl has no name for the mark (3.7); a kernel that does not know it passes over it.
  if (!message ||
      nla_put_u8(message.get(), probes::kAddressProtocolAttribute, probes::kAddressProtocol) < 0)
    return fail(ENOMEM, "adding address", address);
  const auto added = request(message, "adding address", address);
  if (added) return true;
  if (added.error().code == EEXIST) return false;
  return fail(added.error());
}

Result<void> RouteSocket::remove_address(int index, const std::string& address) {
  const auto parsed = parse_interface_address(address);
  if (!parsed) return fail(EINVAL, "removing address", address);
  const RouteAddress whole = link_address(index, *parsed);
  const auto message = whole ? built_by(rtnl_addr_build_delete_request, whole.get(), 0) : nullptr;
  if (!parsed->is_ipv6)
    if (auto set = request(promote_secondaries(index), "keeping other addresses beside", address);
        !set)
      return set;
  auto removed = request(message, "removing address", address);
  if (!removed && removed.error().code == EADDRNOTAVAIL) return {};
  return removed;
}

}  // namespace pvrdma::executor
