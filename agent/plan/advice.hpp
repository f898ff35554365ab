// SPDX-License-Identifier: GPL-2.0-or-later
// Remedies of findings about links that a network manager has: the exact lines that an
// administrator has to write into its configuration.
#pragma once

#include <string>

#include "agent/model/snapshot.hpp"

namespace pvrdma::advice {

// The MTU is in bytes.
[[nodiscard]] std::string set_mtu(const LinkOwner& owner, const Netdev& netdev, unsigned mtu);
// `address` has a prefix: "192.168.30.201/24".
[[nodiscard]] std::string set_address(const LinkOwner& owner, const Netdev& netdev,
                                      const std::string& address);
// The lines that make the manager leave the link to the agent.
[[nodiscard]] std::string leave_link_to_us(const LinkOwner& owner, const Netdev& netdev);

}  // namespace pvrdma::advice
