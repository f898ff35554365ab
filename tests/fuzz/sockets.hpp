// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of a connection: one for the tested code; the other has sent hostile bytes and sends no
// more.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <string_view>
#include <utility>

#include "agent/base/handle.hpp"

namespace pvrdma::fuzz {

struct Pair {
  Fd ours, strangers;
};

inline Pair connected_with(std::string_view bytes) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return {};
  Pair pair{Fd{ends[0]}, Fd{ends[1]}};
  constexpr int kRoom = 1 << 21;
  for (const int end : ends)
    static_cast<void>(::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof kRoom));
  static_cast<void>(::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL));
  static_cast<void>(::shutdown(ends[1], SHUT_WR));
  return pair;
}

}  // namespace pvrdma::fuzz
