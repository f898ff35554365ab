// SPDX-License-Identifier: GPL-2.0-or-later
// A socket that sends ICMP echo requests to one host, never fragmented, and hands out what comes
// back. It needs no privilege where the kernel allows ping sockets to this group (icmp(7)).
//
// IP_PMTUDISC_PROBE (ip(7), ipv6(7)) sets "don't fragment" and looks at the link's MTU only: what
// the kernel remembers of the path, from earlier probes or other programs, changes nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "agent/tools/mtu/echo.hpp"
#include "agent/tools/mtu/resolver.hpp"

namespace pvrdma::ctl::pmtu {

// The host answered the probe with this sequence number.
struct Answered {
  std::uint16_t sequence = 0;
};
// A router refused it as too large, and names the MTU that it has to fit; 0: it names none.
struct TooBig {
  std::uint16_t sequence = 0;
  unsigned mtu = 0;
  std::string router;
};
// Somebody says that the host cannot be reached: `code` is the errno that stands for it.
struct Unreachable {
  int code = 0;
  std::string from;
};
using EchoEvent = std::variant<Answered, TooBig, Unreachable>;

// What became of a packet to send.
struct Handed {};  // to the link; or lost in this host's own queues, which comes to the same
struct TooLargeHere {
  std::optional<unsigned> link_mtu;
};
using Sending = std::variant<Handed, TooLargeHere>;

class EchoSocket {
 public:
  // A ping socket or, where that is refused, a raw one. Errors: errno of socket(2), which for the
  // lack of both rights says how to get one; of setsockopt(2); of connect(2), as ENETUNREACH.
  // `interface`: the only one to send by and to hear from; empty: where the route goes.
  [[nodiscard]] static Result<EchoSocket> open(const Address& peer,
                                               const std::string& interface = {});

  // errno of send(2); a packet that is too large for the link is no error.
  [[nodiscard]] Result<Sending> send(std::uint16_t sequence, unsigned packet_size);
  // The next of what has come so far, none when there is no more. Events that are none of ours are
  // passed over.
  [[nodiscard]] std::optional<EchoEvent> receive();

  // Readable, or with an error pending, while there may be something to receive.
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool is_raw() const { return stamp_.identifier.has_value(); }

 private:
  EchoSocket(Fd fd, Stamp stamp, std::string peer);

  // How many messages there were.
  int drain_errors();
  void drain_answers();

  Fd fd_;
  Stamp stamp_;
  std::string peer_;
  std::deque<EchoEvent> events_;
  std::optional<TooLargeHere> refused_here_;  // this host's own word about the packet just sent
};

}  // namespace pvrdma::ctl::pmtu
