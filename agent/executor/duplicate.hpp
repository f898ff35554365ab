// SPDX-License-Identifier: GPL-2.0-or-later
// Finds another host in a link's network that has an IPv4 address, by ARP probes (RFC 5227, section
// 2.1.1) before the address is set.
//
// Three probes within a fifth of a second, as systemd-networkd and NetworkManager send them by
// default, instead of the RFC's five to nine seconds: the boot waits for the port, and the port for
// this.
#pragma once

#include <linux/if_ether.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::executor {

using MacAddress = std::array<std::uint8_t, ETH_ALEN>;

// The MAC of another host whose ARP packet claims `address` (network order) or probes for it.
// Empty: the packet does neither, is our own, or is invalid.
[[nodiscard]] std::optional<MacAddress> claimant(std::span<const std::uint8_t> packet,
                                                 const std::array<std::uint8_t, 4>& address,
                                                 const MacAddress& own);

// Looks for another host with `address` ("192.168.30.201/24") on this link, which must have carrier
// and the MAC `mac`. Returns the other host's MAC, "00:50:56:8a:9f:c2"; empty: no host answered.
// EINVAL: not IPv4, or no MAC.
[[nodiscard]] Result<std::optional<std::string>> find_duplicate(int index, const std::string& mac,
                                                                const std::string& address);

[[nodiscard]] std::string to_text(const MacAddress& mac);

}  // namespace pvrdma::executor
