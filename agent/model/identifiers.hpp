// SPDX-License-Identifier: GPL-2.0-or-later
// Names that a configuration and a request to the executor use: of modules and netdevs, MAC and PCI
// addresses. Each function yields the normal form, which is the form that the kernel prints, or
// none. Below them: interface addresses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma {

// Letters, digits, "_" and "-"; dashes become underscores, as in /proc/modules. At most 55
// characters (MODULE_NAME_LEN of Linux, include/linux/module.h: 64 - sizeof(long), with the
// NUL).
[[nodiscard]] std::optional<std::string> module_name(std::string_view text);

// Six bytes of two hexadecimal digits between colons -> lower case.
[[nodiscard]] std::optional<std::string> mac_address(std::string_view text);

// "0000:13:00.1", or "13:00.1" as lspci(8) prints it in domain 0 -> lower case, with the domain.
[[nodiscard]] std::optional<std::string> pci_address(std::string_view text);

// As dev_valid_name() of Linux, net/core/dev.c: 1 to 15 bytes, no "/", ":" or white space. Control
// characters, which the kernel accepts, are refused too.
[[nodiscard]] std::optional<std::string> netdev_name(std::string_view text);

// Interface addresses with their prefix: "192.168.30.201/24", "fd00::1/64".

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
// "192.168.30.201/24" -> "192.168.30.201".
[[nodiscard]] std::string without_prefix(const std::string& address);
// fe80::/16 and 169.254.0.0/16 (RFC 4291, RFC 3927). Hosts use no other part of fe80::/10.
[[nodiscard]] bool is_link_local(std::string_view address);

// True where the subnet of one address contains the other address. Never for link-local IPv6
// (fe80::/10), as every link has that same subnet.
[[nodiscard]] bool share_subnet(const InterfaceAddress& one, const InterfaceAddress& other);

}  // namespace pvrdma
