// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of two sides: a port, and a deadline.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "agent/base/clock.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::test {

// A TCP port of 127.0.0.1 that no other program has or gets while this object lives: the kernel
// chose it, and this socket holds it. Both this socket and verify's listener have SO_REUSEADDR, so
// the listener may still use the port.
struct FreePort {
  Fd held{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int number = 0;

  FreePort() {
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::setsockopt(held.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(held.get(), any, size) != 0 || ::getsockname(held.get(), any, &size) != 0)
      throw std::system_error{errno, std::generic_category(), "taking a free port"};
    number = ntohs(address.sin_port);
  }
};

// A deadline that a working program never reaches.
inline BootTime in_time() { return BootClock::now() + std::chrono::seconds{30}; }

}  // namespace pvrdma::test
