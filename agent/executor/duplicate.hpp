// SPDX-License-Identifier: GPL-2.0-or-later
// Whether somebody else in a link's network has an IPv4 address already: ARP probes (RFC 5227,
// section 2.1.1), sent before the address is set.
//
// Three probes within a fifth of a second instead of the RFC's five to nine seconds, as
// systemd-networkd and NetworkManager send them by default: this is the way to a port that a boot
// waits for.
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

// The MAC of whoever claims `address` (network order) or probes for it as well, where the ARP
// packet says so and is not our own. Empty: the packet, of whatever length, says no such thing.
[[nodiscard]] std::optional<MacAddress> claimant(std::span<const std::uint8_t> packet,
                                                 const std::array<std::uint8_t, 4>& address,
                                                 const MacAddress& own);

// "192.168.30.201/24" on that link, which has carrier and this MAC. The other's MAC,
// "00:50:56:8a:9f:c2"; empty: nobody answered. EINVAL: not IPv4, or no MAC.
[[nodiscard]] Result<std::optional<std::string>> find_duplicate(int index, const std::string& mac,
                                                                const std::string& address);

[[nodiscard]] std::string to_text(const MacAddress& mac);

}  // namespace pvrdma::executor
