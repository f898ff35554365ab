// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptors that are passed over a socket, and one whose close waits.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"

namespace pvrdma::test {

// A TCP connection whose last close waits for three seconds, as its other end reads nothing. When
// this object goes, the other end goes, and the wait is over.
struct Lingering {
  Lingering() : other_end{tcp()}, connection{tcp()} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(other_end.get(), any, size) == 0);
    REQUIRE(::listen(other_end.get(), 1) == 0);
    REQUIRE(::getsockname(other_end.get(), any, &size) == 0);
    REQUIRE(::connect(connection.get(), any, size) == 0);
    const std::string data(65536, 'x');
    while (::send(connection.get(), data.data(), data.size(), MSG_DONTWAIT) > 0) {
    }
    const linger three_seconds{1, 3};
    REQUIRE(::setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &three_seconds,
                         sizeof three_seconds) == 0);
  }
  static Fd tcp() { return Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }

  Fd other_end, connection;
};

// Sends the bytes with this descriptor, and then closes it, so that the receiver's close is the
// last. Returns whether they were sent.
inline bool pass(int socket, std::string bytes, Fd descriptor, int flags = 0) {
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = descriptor.get();
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | flags) == static_cast<ssize_t>(bytes.size());
}

}  // namespace pvrdma::test
