// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/base/text.hpp"

namespace pvrdma {

int DatagramSender::send(const std::string& address, std::string_view content) noexcept {
  sockaddr_un peer{};
  peer.sun_family = AF_UNIX;
  if (address.empty() || address.size() >= sizeof peer.sun_path) return EINVAL;
  std::memcpy(peer.sun_path, address.data(), address.size());
  // The length of the address ends an abstract name; a path includes its NUL.
  const bool is_abstract = address.front() == '@';
  if (is_abstract) peer.sun_path[0] = '\0';
  const std::size_t length =
      offsetof(sockaddr_un, sun_path) + address.size() + (is_abstract ? 0 : 1);
  if (!socket_) socket_ = Fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket_) return errno;
  const ssize_t sent =
      ::sendto(socket_.get(), content.data(), content.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&peer), static_cast<socklen_t>(length));
  return sent < 0 ? errno : 0;
}

void notify(std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 500;
  using Assignment = std::pair<std::string, std::string>;
  static std::vector<Assignment> waiting;
  static DatagramSender sender;
  std::erase_if(waiting, [&](const Assignment& one) { return one.first == name; });
  waiting.emplace_back(name, printable(value, kLongest));
  // Without a service manager nothing is sent, which is no error.
  const char* socket = std::getenv("NOTIFY_SOCKET");
  const auto refused = std::find_if(waiting.begin(), waiting.end(), [&](const Assignment& one) {
    return socket != nullptr && sender.send(socket, one.first + "=" + one.second) == EAGAIN;
  });
  waiting.erase(waiting.begin(), refused);
}

}  // namespace pvrdma
