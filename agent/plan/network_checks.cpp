// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the networks of the adapters, no matter which program has configured them.
#include <algorithm>
#include <string>
#include <vector>

#include "agent/model/identifiers.hpp"
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"
#include "agent/plan/rules.hpp"

namespace pvrdma {

namespace {

std::vector<InterfaceAddress> parsed(const std::vector<std::string>& texts) {
  std::vector<InterfaceAddress> addresses;
  for (const std::string& text : texts)
    if (auto address = parse_interface_address(text)) addresses.push_back(std::move(*address));
  return addresses;
}

std::vector<InterfaceAddress> addresses_of(const Adapter& adapter) {
  std::vector<std::string> texts;
  if (const Netdev* netdev = adapter.netdev.get())
    for (const LinkAddress& address : netdev->addresses) texts.push_back(address.text);
  return parsed(texts);
}

// The first address of `adapter` that shares a subnet with one of `other`; null: none does.
const InterfaceAddress* shared(const std::vector<InterfaceAddress>& adapter,
                               const std::vector<InterfaceAddress>& other) {
  const auto found =
      std::find_if(adapter.begin(), adapter.end(), [&](const InterfaceAddress& address) {
        return std::any_of(other.begin(), other.end(),
                           [&](const InterfaceAddress& one) { return share_subnet(address, one); });
      });
  return found == adapter.end() ? nullptr : &*found;
}

// IPv6 does not count: Linux answers for an IPv6 address on its own interface alone, and any
// neighbour can give two adapters addresses of one subnet by a Router Advertisement.
std::vector<InterfaceAddress> ipv4_addresses_of(const Adapter& adapter) {
  auto addresses = addresses_of(adapter);
  std::erase_if(addresses, [](const InterfaceAddress& one) { return one.is_ipv6; });
  return addresses;
}

void check_subnets(const std::vector<Adapter>& adapters, Draft& draft) {
  for (std::size_t i = 0; i < adapters.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const auto own = ipv4_addresses_of(adapters[i]);
          const InterfaceAddress* address = shared(own, ipv4_addresses_of(adapters[j])))
        draft.find(findings::same_subnet(adapters[i], adapters[j], address->text));
}

void check_outside(const Config& config, const Adapter& adapter, Draft& draft) {
  const AdapterConfig& wanted = config_of(config, adapter);
  if (wanted.addresses.empty()) return;
  const auto subnets = parsed(wanted.addresses);
  for (const InterfaceAddress& address : addresses_of(adapter)) {
    const bool same_family = std::any_of(
        subnets.begin(), subnets.end(),
        [&](const InterfaceAddress& subnet) { return subnet.is_ipv6 == address.is_ipv6; });
    if (same_family && !is_link_local(address.text) && shared({address}, subnets) == nullptr)
      draft.find(about(adapter, FindingId::AddressOutside,
                       {{"netdev", adapter.netdev.get()->name}, {"address", address.text}}));
  }
}

}  // namespace

void check_networks(const Inputs& in, Draft& draft) {
  const auto& adapters = *in.snapshot.adapters.get();
  check_subnets(adapters, draft);
  for (const Adapter& adapter : adapters) {
    check_outside(in.config, adapter, draft);
    if (const Netdev* netdev = adapter.netdev.get();
        netdev != nullptr && netdev->default_route.is(true))
      draft.find(about(adapter, FindingId::DefaultRoute, {{"netdev", netdev->name}}));
    if (in.snapshot.first_nic.is(adapter.net_function))
      draft.find(about(adapter, FindingId::FirstNic, {}));
  }
}

}  // namespace pvrdma
