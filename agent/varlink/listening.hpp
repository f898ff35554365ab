// SPDX-License-Identifier: GPL-2.0-or-later
// Listening AF_UNIX sockets, and the peer of a socket.
#pragma once

#include <sys/socket.h>

#include <string>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::varlink {

// Binds and listens, non-blocking. The file has exactly `mode`, and never a wider one. A socket
// file without a listener is replaced, also that of a process that was killed but hangs in the
// kernel. EADDRINUSE where a process listens, EEXIST where the file is no socket, ENAMETOOLONG for
// more than the 107 bytes of unix(7); else the errno of socket(2), bind(2) and listen(2).
[[nodiscard]] Result<Fd> listening_socket(const std::string& path, unsigned mode);

// The process that made the other end, or listens there: SO_PEERCRED in unix(7).
[[nodiscard]] Result<ucred> peer_of(const Fd& socket);

// Makes an inherited listening socket non-blocking. EINVAL: it does not listen.
[[nodiscard]] Result<Fd> inherited_socket(Fd socket);

}  // namespace pvrdma::varlink
