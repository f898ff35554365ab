// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptors that the other end of a connection passes along with its bytes (SCM_RIGHTS in
// unix(7)), although no program of ours wants any.
//
// The last close of a descriptor may wait: a TCP socket lingers (SO_LINGER in socket(7)). The
// kernel closes a passed descriptor in the process that reads the bytes or closes the socket. So
// this process neither reads bytes that came with descriptors, nor is the last to close a socket
// that still holds such bytes: the end of another process closes it. If 768 such sockets wait for
// another process, none of which ends, this process ends, and systemd starts it again.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "agent/base/handle.hpp"

namespace pvrdma::varlink {

// Makes the kernel refuse (or, for tests, allow) descriptors on this socket, and on those of all
// clients that connect to it from now on. Does nothing before Linux 6.16.
void allow_descriptors(const Fd& socket, bool allowed);

// Must precede the first read of a connected socket: a read drops an urgent byte (MSG_OOB), and a
// descriptor with that byte, unless such bytes belong to the stream.
void keep_urgent_bytes(const Fd& connected);

// Like recv(2) with MSG_DONTWAIT. EPROTO: some of the next bytes came with descriptors; all of them
// stay unread.
[[nodiscard]] ssize_t receive_bytes(const Fd& socket, char* data, std::size_t size);

// Closes a connected socket, and does not wait for the close of descriptors that it holds.
void close_connected(Fd socket) noexcept;

// Goes on with the sockets that other processes are to close, where no client leaves that would
// cause that. To be called now and then.
void finish_closing() noexcept;

// Owns a connected socket.
class PeerSocket {
 public:
  PeerSocket() = default;
  explicit PeerSocket(Fd socket) noexcept : socket_(std::move(socket)) {}
  PeerSocket(PeerSocket&&) = default;
  PeerSocket& operator=(PeerSocket&& other) noexcept {
    close_connected(std::exchange(socket_, std::move(other.socket_)));
    return *this;
  }
  PeerSocket(const PeerSocket&) = delete;
  PeerSocket& operator=(const PeerSocket&) = delete;
  ~PeerSocket() { close_connected(std::move(socket_)); }

  [[nodiscard]] const Fd& fd() const noexcept { return socket_; }
  [[nodiscard]] int get() const noexcept { return socket_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(socket_); }

 private:
  Fd socket_;
};

}  // namespace pvrdma::varlink
