// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/mtu/interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "agent/base/handle.hpp"
#include "probes/pci.hpp"

namespace pvrdma::ctl::pmtu {

namespace {

bool same_address(const sockaddr* one, const sockaddr_storage& other) {
  if (one == nullptr || one->sa_family != other.ss_family) return false;
  const auto equal = [&](auto example, auto member) {
    auto first = example, second = example;
    std::memcpy(&first, one, sizeof first);
    std::memcpy(&second, &other, sizeof second);
    return std::memcmp(&(first.*member), &(second.*member), sizeof(first.*member)) == 0;
  };
  return one->sa_family == AF_INET ? equal(sockaddr_in{}, &sockaddr_in::sin_addr)
                                   : equal(sockaddr_in6{}, &sockaddr_in6::sin6_addr);
}

// netdevice(7); 0 where it cannot be told.
unsigned mtu_of(int fd, const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  return ioctl(fd, SIOCGIFMTU, &request) == 0 ? static_cast<unsigned>(request.ifr_mtu) : 0;
}

}  // namespace

Result<std::string> interface_of_adapter(const Root& root, const std::string& name) {
  const auto adapters = probes::find_adapters(root);
  if (!adapters) return fail(adapters.error());
  for (const probes::PciAdapter& adapter : *adapters) {
    if (!probes::is_called(adapter, name)) continue;
    if (const std::string* interface = adapter.netdev.get()) return *interface;
    if (const Error* error = adapter.netdev.error()) return fail(*error);
    return fail(0, "no interface to measure from: adapter", adapter.function + " has none");
  }
  return fail(0, "there is no PVRDMA adapter", name);
}

std::string interface_of(int fd, unsigned mtu) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ifaddrs* list = nullptr;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) != 0 || getifaddrs(&list) != 0)
    return {};
  const Handle<ifaddrs, freeifaddrs> owner{list};
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (same_address(entry->ifa_addr, own) && mtu_of(fd, entry->ifa_name) == mtu)
      return entry->ifa_name;
  return {};
}

}  // namespace pvrdma::ctl::pmtu
