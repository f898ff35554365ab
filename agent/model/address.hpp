// SPDX-License-Identifier: GPL-2.0-or-later
// Interface addresses with their prefix: "192.168.30.201/24", "fd00::1/64".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma {

struct InterfaceAddress {
  std::string text;                      // as inet_ntop(3) writes it, with the prefix
  bool is_ipv6 = false;                  // else IPv4, in the first four bytes
  std::array<std::uint8_t, 16> bytes{};  // network order
  unsigned prefix = 0;                   // bits
};

// Parses an address that a host can have. Otherwise EINVAL, with the broken rule as a readable text
// in `what`: "must have a prefix length from 1 to 32".
[[nodiscard]] Result<InterfaceAddress> parse_interface_address(std::string_view text);

// `address` is a text with or without prefix.
[[nodiscard]] bool is_ipv6(std::string_view address);
// fe80::/16 and 169.254.0.0/16 (RFC 4291, RFC 3927). Hosts use no other part of fe80::/10.
[[nodiscard]] bool is_link_local(std::string_view address);

// True where the subnet of one address contains the other address. Never for link-local IPv6
// (fe80::/10), as every link has that same subnet.
[[nodiscard]] bool share_subnet(const InterfaceAddress& one, const InterfaceAddress& other);

}  // namespace pvrdma
