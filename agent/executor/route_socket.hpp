// Requests to rtnetlink(7) that change something, each acknowledged by the kernel before it
// returns, and the few questions that go with them.
#pragma once

#include <linux/if_ether.h>
#include <netlink/msg.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/model/snapshot.hpp"
#include "probes/netlink.hpp"

namespace pvrdma::executor {

struct LinkFacts {
  int index = 0;
  std::string name;
  unsigned mtu = 0;                          // bytes
  bool up = false;                           // IFF_UP
  bool carrier = false;                      // IFF_LOWER_UP
  std::array<std::uint8_t, ETH_ALEN> mac{};  // zero where it has none of this length
  int master = 0;                            // index of the bond or bridge it is a port of; 0: none
  int lower = 0;  // index of the link it stands on in this network namespace; 0: none
};

// RTM_NEWLINK -> what a change of the link has to know. EBADMSG: not such a message.
[[nodiscard]] Result<LinkFacts> parse_link_facts(nlmsghdr& message);

class RouteSocket {
 public:
  [[nodiscard]] static Result<RouteSocket> open();

  // Every link of this network namespace.
  [[nodiscard]] Result<std::vector<LinkFacts>> links();
  // ENODEV: no link of that index.
  [[nodiscard]] Result<LinkFacts> link(int index);
  [[nodiscard]] Result<void> set_up(int index, bool up);
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

  // All messages of a dump; asked again (three times at most) where the table changed under way.
  [[nodiscard]] Result<void> dump(int type, unsigned char family, const probes::OnMessage& take);
  // Sends one request and waits for its acknowledgement; `doing` and `what` are for the Error.
  [[nodiscard]] Result<void> request(nl_msg& message, const char* doing, const std::string& what);

 private:
  explicit RouteSocket(probes::NetlinkSocket socket) : socket_(std::move(socket)) {}
  probes::NetlinkSocket socket_;
};

}  // namespace pvrdma::executor
