// SPDX-License-Identifier: GPL-2.0-or-later
// Assignments to the service manager (sd_notify(3)). The manager reads lines NAME=VALUE, so a line
// end in a value would begin another assignment (STOPPING=1). Therefore all code uses notify().
#pragma once

#include <string>
#include <string_view>

#include "agent/base/handle.hpp"

namespace pvrdma {

// Sends to one service. Its socket stays open from the first datagram on, so that a process without
// a free descriptor can still log, and feed the watchdog.
class DatagramSender {
 public:
  // Sends `content` as one datagram to the socket at `address` (unix(7)): a path, or an abstract
  // name that begins with '@', as in NOTIFY_SOCKET. Never waits: the sender must go on even if the
  // service is stopped or its queue is full. 0, or errno: EAGAIN where the queue is full (datagrams
  // that the service has not read: net.unix.max_dgram_qlen, or SO_SNDBUF bytes), EMSGSIZE above
  // some 200 KiB, ENOENT and ECONNREFUSED where there is no service.
  [[nodiscard]] int send(const std::string& address, std::string_view content) noexcept;

 private:
  Fd socket_;
};

// Sends one assignment; the value is made printable and cut to 500 bytes. Never waits, unlike
// sd_notify(3) when the manager is busy: an assignment that it does not take now is sent before the
// next one, the newest of each name. Only one thread of a program may call it.
void notify(std::string_view name, std::string_view value);

}  // namespace pvrdma
