// SPDX-License-Identifier: GPL-2.0-or-later
// Datagrams to a service of this machine (unix(7)), sent without ever waiting for it: the programs
// that send them must go on where the service is stopped, or its queue is full.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma {

// Sends `content` whole to the socket at `address`: a path, or with '@' first an abstract name, as
// NOTIFY_SOCKET has it. 0, or errno: EAGAIN where the queue is full (net.unix.max_dgram_qlen
// datagrams that the service has not read), EMSGSIZE above some 200 KiB, ENOENT and ECONNREFUSED
// where there is no service.
[[nodiscard]] int send_datagram(const std::string& address, std::string_view content) noexcept;

}  // namespace pvrdma
