// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/closing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83  // Linux 6.16, include/uapi/asm-generic/socket.h
#endif

namespace pvrdma::varlink {

namespace {

// Reads the other bytes away. Their number is limited, as the socket receives no more.
bool holds_descriptors(const Fd& socket) {
  std::array<char, 8192> chunk{};
  ssize_t got = 0;
  do {
    got = receive_bytes(socket, chunk.data(), chunk.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  return got < 0 && errno == EPROTO;
}

// Starts a process that ends once `until` has no more writer, and then closes its copies of all
// descriptors. It is no child of this process, so nothing has to wait for its end. False: it could
// not be started.
bool end_elsewhere(const Fd& until, Fd& writer) {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild != 0) ::_exit(grandchild > 0 ? 0 : 1);
    writer = Fd{};
    char none = 0;
    while (::read(until.get(), &none, 1) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void allow_descriptors(const Fd& listening, bool allowed) {
  const int value = allowed ? 1 : 0;
  static_cast<void>(::setsockopt(listening.get(), SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof value));
}

void keep_urgent_bytes(const Fd& accepted) {
  const int value = 1;
  static_cast<void>(::setsockopt(accepted.get(), SOL_SOCKET, SO_OOBINLINE, &value, sizeof value));
}

ssize_t receive_bytes(const Fd& socket, char* data, std::size_t size) {
  iovec part{data, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  // Without room for descriptors the kernel only says that there are some (MSG_CTRUNC). A process
  // that received them could run out of descriptors.
  const ssize_t seen = ::recvmsg(socket.get(), &message, MSG_PEEK | MSG_DONTWAIT);
  if (seen <= 0) return seen;
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    errno = EPROTO;
    return -1;
  }
  // Bytes that have arrived meanwhile are behind these.
  return ::recv(socket.get(), data, static_cast<std::size_t>(seen), MSG_DONTWAIT);
}

void close_client(Fd socket) {
  if (!socket) return;
  // From here on the socket receives nothing, so the look at its bytes stays true.
  ::shutdown(socket.get(), SHUT_RDWR);
  if (!holds_descriptors(socket)) return;
  // The end of another process is the last close. There no socket lingers (inet_release(),
  // net/ipv4/af_inet.c, Linux 6.1), and any other wait holds up only that process.
  std::array<int, 2> ends{-1, -1};
  const bool piped = ::pipe2(ends.data(), O_CLOEXEC) == 0;
  const Fd reader{ends[0]};
  Fd writer{ends[1]};
  // Without descriptors or processes the socket stays open until this process ends.
  if (!piped || !end_elsewhere(reader, writer)) static_cast<void>(socket.release());
  socket = Fd{};  // before the writer, which keeps the other process from ending
}

}  // namespace pvrdma::varlink
