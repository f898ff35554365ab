// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/notify.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/datagram.hpp"
#include "agent/base/text.hpp"

namespace pvrdma {

void notify(std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 500;
  using Assignment = std::pair<std::string, std::string>;
  static std::vector<Assignment> waiting;
  std::erase_if(waiting, [&](const Assignment& one) { return one.first == name; });
  waiting.emplace_back(name, printable(value, kLongest));
  // Without a service manager nothing is sent, which is no error.
  const char* socket = std::getenv("NOTIFY_SOCKET");
  const auto refused = std::find_if(waiting.begin(), waiting.end(), [&](const Assignment& one) {
    return socket != nullptr && send_datagram(socket, one.first + "=" + one.second) == EAGAIN;
  });
  waiting.erase(waiting.begin(), refused);
}

}  // namespace pvrdma
