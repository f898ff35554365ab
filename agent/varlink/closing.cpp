// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/closing.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "agent/base/log.hpp"

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
// descriptors. Returns -1 where it could not be started.
pid_t end_elsewhere(const Fd& until, Fd& writer) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  writer = Fd{};
  char none = 0;
  while (::read(until.get(), &none, 1) < 0 && errno == EINTR) {
  }
  ::_exit(0);
}

// A close that waits although its process ends must not take all tasks of the unit (TasksMax=).
constexpr std::size_t kMostEnding = 4;
// With the descriptors of all clients these are fewer than the unit's LimitNOFILE=.
constexpr std::size_t kMostWaiting = 768;

// The sockets that other processes are to close, and those processes.
class Closers {
 public:
  Closers() {
    ending_.reserve(kMostEnding);
    waiting_.reserve(kMostWaiting);
  }

  void add(Fd socket) {
    const std::lock_guard guard{mutex_};
    if (waiting_.size() == kMostWaiting) {
      log::error("{} sockets with passed descriptors cannot be closed; this process ends",
                 waiting_.size());
      ::_exit(EXIT_FAILURE);
    }
    waiting_.push_back(std::move(socket));
  }

  void go_on() {
    const std::lock_guard guard{mutex_};
    std::erase_if(ending_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
    if (waiting_.empty() || ending_.size() == kMostEnding) return;
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    const Fd reader{ends[0]};
    Fd writer{ends[1]};
    // The other process has copies of all sockets that wait. Its end is the last close of each:
    // there no socket lingers (inet_release(), net/ipv4/af_inet.c, Linux 6.1), and any other wait
    // holds up only that process.
    const pid_t closer = end_elsewhere(reader, writer);
    if (closer < 0) return;
    ending_.push_back(closer);
    waiting_.clear();  // before the writer goes, which keeps the other process from ending
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> ending_;
  std::vector<Fd> waiting_;
};

// Never destroyed: at the end of the program the close of its sockets would wait.
Closers& closers() {
  static Closers& all = *new Closers;
  return all;
}

}  // namespace

void allow_descriptors(const Fd& socket, bool allowed) {
  const int value = allowed ? 1 : 0;
  static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof value));
}

void keep_urgent_bytes(const Fd& connected) {
  const int value = 1;
  static_cast<void>(::setsockopt(connected.get(), SOL_SOCKET, SO_OOBINLINE, &value, sizeof value));
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

void close_connected(Fd socket) noexcept {
  if (!socket) return;
  // From here on the socket receives nothing, so the look at its bytes stays true.
  ::shutdown(socket.get(), SHUT_RDWR);
  if (holds_descriptors(socket)) closers().add(std::move(socket));
  socket = Fd{};
  finish_closing();
}

void finish_closing() noexcept { closers().go_on(); }

}  // namespace pvrdma::varlink
