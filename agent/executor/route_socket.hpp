// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and changes one link by rtnetlink(7). libnl-route makes the messages that change something;
// each call returns after the kernel's acknowledgement.
#pragma once

#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/netlink.hpp"
#include "agent/model/snapshot.hpp"

namespace pvrdma::executor {

class RouteSocket {
 public:
  [[nodiscard]] static Result<RouteSocket> open();

  // The link without its addresses. ENODEV: no link has that index.
  [[nodiscard]] Result<Netdev> link(int index);
  [[nodiscard]] Result<void> bring_up(int index);
  [[nodiscard]] Result<void> set_mtu(int index, unsigned mtu);
  // False: no carrier within `patience`.
  [[nodiscard]] Result<bool> await_carrier(int index, Milliseconds patience);

  // The addresses of one link, in the kernel's order.
  [[nodiscard]] Result<std::vector<LinkAddress>> addresses(int index);
  // Adds "192.168.30.201/24" or "fd00::1/64", with the agent's mark. False: the address was there
  // already.
  [[nodiscard]] Result<bool> add_address(int index, const std::string& address);
  // A missing address is no error. Other addresses of its subnet stay.
  [[nodiscard]] Result<void> remove_address(int index, const std::string& address);

 private:
  explicit RouteSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  // Sends one request and waits for its acknowledgement; `doing` and `what` are for the Error.
  // A null message means out of memory.
  [[nodiscard]] Result<void> request(const NetlinkMessage& message, const std::string& doing,
                                     const std::string& what);
  NetlinkSocket socket_;
};

}  // namespace pvrdma::executor
