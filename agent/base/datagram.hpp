// SPDX-License-Identifier: GPL-2.0-or-later
// Datagrams to a service of this machine (unix(7)). Sending never waits: the sender must go on even
// if the service is stopped or its queue is full.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma {

// Sends `content` as one datagram to the socket at `address`: a path, or an abstract name that
// begins with '@', as in NOTIFY_SOCKET. 0, or errno: EAGAIN where the queue is full
// (net.unix.max_dgram_qlen datagrams that the service has not read), EMSGSIZE above some 200 KiB,
// ENOENT and ECONNREFUSED where there is no service.
[[nodiscard]] int send_datagram(const std::string& address, std::string_view content) noexcept;

}  // namespace pvrdma
