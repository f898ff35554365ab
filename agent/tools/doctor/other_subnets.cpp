// SPDX-License-Identifier: GPL-2.0-or-later
// The interfaces that are no adapter's: none may be in an adapter's subnet.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

#include "agent/model/catalogue.hpp"
#include "agent/model/identifiers.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "agent/tools/doctor/survey_probe.hpp"

namespace pvrdma {

namespace {

// "192.0.2.7/24"; empty: neither IPv4 nor IPv6.
std::string text_of(const ifaddrs& one) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  unsigned prefix = 0;
  const auto read = [&](const auto& address, const auto& mask, int family) {
    std::array<unsigned char, sizeof mask> bytes{};
    std::memcpy(bytes.data(), &mask, sizeof mask);
    for (const unsigned char byte : bytes) prefix += static_cast<unsigned>(std::popcount(byte));
    return ::inet_ntop(family, &address, text.data(), text.size()) != nullptr;
  };
  bool is_read = false;
  if (one.ifa_addr->sa_family == AF_INET) {
    sockaddr_in address{};
    sockaddr_in mask{};
    std::memcpy(&address, one.ifa_addr, sizeof address);
    std::memcpy(&mask, one.ifa_netmask, sizeof mask);
    is_read = read(address.sin_addr, mask.sin_addr, AF_INET);
  } else if (one.ifa_addr->sa_family == AF_INET6) {
    sockaddr_in6 address{};
    sockaddr_in6 mask{};
    std::memcpy(&address, one.ifa_addr, sizeof address);
    std::memcpy(&mask, one.ifa_netmask, sizeof mask);
    is_read = read(address.sin6_addr, mask.sin6_addr, AF_INET6);
  }
  return is_read ? std::string{text.data()} + "/" + std::to_string(prefix) : std::string{};
}

bool is_of_adapter(const Snapshot& snapshot, const std::string& netdev) {
  for (const Adapter& adapter : snapshot.adapters.value_or({}))
    if (const Netdev* own = adapter.netdev.get(); own != nullptr && own->name == netdev)
      return true;
  return false;
}

}  // namespace

namespace probes {

Field<std::vector<NamedAddress>> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return Field<std::vector<NamedAddress>>::from(fail(errno, "listing", "interface addresses"));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner{list, &::freeifaddrs};
  std::vector<NamedAddress> addresses;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (std::string text = text_of(*one); !text.empty())
      addresses.push_back({one->ifa_name, std::move(text)});
  }
  return addresses;
}

}  // namespace probes

namespace doctor {

void check_other_subnets(const Snapshot& snapshot, const std::vector<NamedAddress>& addresses,
                         std::vector<Finding>& findings) {
  for (const Adapter& adapter : snapshot.adapters.value_or({})) {
    const Netdev* netdev = adapter.netdev.get();
    if (netdev == nullptr) continue;
    for (const LinkAddress& own : netdev->addresses) {
      const auto left = parse_interface_address(own.text);
      // IPv6 does not count, as in plan/network_checks.cpp.
      if (!left || left->is_ipv6) continue;
      for (const NamedAddress& other : addresses) {
        const auto right = parse_interface_address(other.text);
        if (!right || !share_subnet(*left, *right) || is_of_adapter(snapshot, other.netdev))
          continue;
        findings.push_back(
            make_finding(FindingId::SameSubnet, {},
                         {{"netdev", netdev->name}, {"address", own.text}, {"other", other.netdev}},
                         adapter.function));
        break;
      }
    }
  }
}

}  // namespace doctor

}  // namespace pvrdma
