// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/datagram.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "agent/base/handle.hpp"

namespace pvrdma {

int send_datagram(const std::string& address, std::string_view content) noexcept {
  sockaddr_un peer{};
  peer.sun_family = AF_UNIX;
  if (address.empty() || address.size() >= sizeof peer.sun_path) return EINVAL;
  std::memcpy(peer.sun_path, address.data(), address.size());
  // The length of the address ends an abstract name; a path includes its NUL.
  const bool is_abstract = address.front() == '@';
  if (is_abstract) peer.sun_path[0] = '\0';
  const std::size_t length =
      offsetof(sockaddr_un, sun_path) + address.size() + (is_abstract ? 0 : 1);
  const Fd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return errno;
  const ssize_t sent =
      ::sendto(socket.get(), content.data(), content.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&peer), static_cast<socklen_t>(length));
  return sent < 0 ? errno : 0;
}

}  // namespace pvrdma
