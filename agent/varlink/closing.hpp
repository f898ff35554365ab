// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptors that clients pass along with their bytes (SCM_RIGHTS in unix(7)), although no service
// of ours wants any.
//
// The last close of a descriptor may wait: a TCP socket lingers (SO_LINGER in socket(7)), and a
// file of a FUSE mount waits for the user's program that serves the mount. The kernel closes a
// passed descriptor in the thread that reads the bytes or closes the socket. So the loop's thread
// neither reads bytes that came with descriptors nor closes a socket that still holds such bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

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

// Closes the sockets of clients, and never waits. A socket that holds descriptors is closed by a
// thread, one for each user, which may outlive this object.
class Closing {
 public:
  Closing();
  void close(Fd socket, uid_t uid);
  // Whether a socket of this user is not closed yet. Such a user must get no further connections,
  // or the number of sockets that wait would have no limit.
  [[nodiscard]] bool closes_for(uid_t uid) const;
  // The number of sockets that are not closed yet.
  [[nodiscard]] std::size_t size() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace pvrdma::varlink
