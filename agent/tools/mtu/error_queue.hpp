// Messages of a socket's error queue (MSG_ERRQUEUE in recv(2), IP_RECVERR in ip(7), ipv6(7)).
#pragma once

// linux/errqueue.h needs it, and does not include it.
#include <ctime>

#include <linux/errqueue.h>

#include <optional>
#include <string>

#include "agent/tools/mtu/echo.hpp"

namespace pvrdma::ctl::pmtu {

struct QueuedError {
  sock_extended_err what{};
  std::string offender;  // who sent the ICMP error: an address in numbers; empty: nobody did
  Bytes quoted;          // the beginning of the packet it is about, from the ICMP header on

  [[nodiscard]] bool is_local() const { return what.ee_origin == SO_EE_ORIGIN_LOCAL; }
};

// The next message of the queue; none when it is empty.
[[nodiscard]] std::optional<QueuedError> next_error(int fd);

}  // namespace pvrdma::ctl::pmtu
