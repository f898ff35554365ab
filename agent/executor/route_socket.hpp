// SPDX-License-Identifier: GPL-2.0-or-later
// What is asked of rtnetlink(7), and changed by it, for one link. Messages that change something
// are libnl-route's; each is acknowledged by the kernel before it returns.
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

  // All but addresses. ENODEV: no link of that index.
  [[nodiscard]] Result<Netdev> link(int index);
  [[nodiscard]] Result<void> bring_up(int index);
  [[nodiscard]] Result<void> set_mtu(int index, unsigned mtu);
  // False: the link has had none for that long.
  [[nodiscard]] Result<bool> await_carrier(int index, Milliseconds patience);

  // Of one link, in the kernel's order.
  [[nodiscard]] Result<std::vector<LinkAddress>> addresses(int index);
  // "192.168.30.201/24", "fd00::1/64", marked as ours. True where it was added, false where it was
  // there already.
  [[nodiscard]] Result<bool> add_address(int index, const std::string& address);
  // One that is not there is no error. Others of its subnet stay.
  [[nodiscard]] Result<void> remove_address(int index, const std::string& address);

 private:
  explicit RouteSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  // Sends one request and waits for its acknowledgement; `doing` and `what` are for the Error.
  // Null: there was no memory for it.
  [[nodiscard]] Result<void> request(const NetlinkMessage& message, const std::string& doing,
                                     const std::string& what);
  NetlinkSocket socket_;
};

}  // namespace pvrdma::executor
