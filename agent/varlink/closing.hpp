// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptors that clients pass along with their bytes (SCM_RIGHTS in unix(7)), although no service
// of ours wants any.
//
// The last close of a descriptor may wait: a TCP socket lingers (SO_LINGER in socket(7)). The
// kernel closes a passed descriptor in the process that reads the bytes or closes the socket. So
// this process neither reads bytes that came with descriptors, nor is the last to close a socket
// that still holds such bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "agent/base/handle.hpp"

namespace pvrdma::varlink {

// Makes the kernel refuse (or, for tests, allow) descriptors from all clients that connect to this
// listening socket from now on. Does nothing before Linux 6.16.
void allow_descriptors(const Fd& listening, bool allowed);

// Must precede the first read of an accepted socket: a read drops an urgent byte (MSG_OOB), and a
// descriptor with that byte, unless such bytes belong to the stream.
void keep_urgent_bytes(const Fd& accepted);

// Like recv(2) with MSG_DONTWAIT. EPROTO: some of the next bytes came with descriptors; all of them
// stay unread.
[[nodiscard]] ssize_t receive_bytes(const Fd& socket, char* data, std::size_t size);

// Closes the socket of a client, and does not wait for the close of descriptors that it holds.
void close_client(Fd socket);

}  // namespace pvrdma::varlink
