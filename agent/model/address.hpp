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

// An address that a host can have. EINVAL otherwise, with the rule that was broken in `what`, for a
// person: "must have a prefix length from 1 to 32".
[[nodiscard]] Result<InterfaceAddress> parse_interface_address(std::string_view text);

// Of an address as text, with its prefix or without.
[[nodiscard]] bool is_ipv6(std::string_view address);
// fe80::/16, which is all that hosts use of fe80::/10, and 169.254.0.0/16 (RFC 4291, RFC 3927).
[[nodiscard]] bool is_link_local(std::string_view address);

// True where one's subnet holds the other. Never for link-local IPv6 (fe80::/10): every link has
// the same one.
[[nodiscard]] bool share_subnet(const InterfaceAddress& one, const InterfaceAddress& other);

}  // namespace pvrdma
