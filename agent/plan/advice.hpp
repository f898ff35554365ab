// SPDX-License-Identifier: GPL-2.0-or-later
// What an administrator has to tell a network manager, word for word: remedies of findings about
// links that another manager has.
#pragma once

#include <string>

#include "agent/model/snapshot.hpp"

namespace pvrdma::advice {

// The MTU is in bytes.
[[nodiscard]] std::string set_mtu(const LinkOwner& owner, const Netdev& netdev, unsigned mtu);
// `address` has a prefix: "192.168.30.201/24".
[[nodiscard]] std::string set_address(const LinkOwner& owner, const Netdev& netdev,
                                      const std::string& address);
// So that the manager leaves the link to us.
[[nodiscard]] std::string leave_link_to_us(const LinkOwner& owner, const Netdev& netdev);

}  // namespace pvrdma::advice
