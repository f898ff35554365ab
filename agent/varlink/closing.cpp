// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/closing.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "agent/base/held_signals.hpp"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83  // Linux 6.16, include/uapi/asm-generic/socket.h
#endif

namespace pvrdma::varlink {

namespace {

// The units' TasksMax= leaves room for these. One attacker needs one; while all of them wait, the
// sockets of further attackers stay open.
constexpr std::size_t kThreads = 4;

// Reads the other bytes away. Their number is limited, as the socket receives no more.
bool holds_descriptors(const Fd& socket) {
  std::array<char, 8192> chunk{};
  ssize_t got = 0;
  do {
    got = receive_bytes(socket, chunk.data(), chunk.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  return got < 0 && errno == EPROTO;
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

struct Closing::Shared : std::enable_shared_from_this<Closing::Shared> {
  struct User {
    std::vector<Fd> sockets;
    bool served = false;  // by a thread
  };
  std::mutex mutex;
  std::map<uid_t, User> users;  // until all their sockets are closed
  std::size_t sockets = 0;
  std::size_t threads = 0;

  auto unserved() noexcept {
    return std::find_if(users.begin(), users.end(),
                        [](const auto& user) { return !user.second.served; });
  }
  // The mutex is locked. If no thread can be started (TasksMax=), the next call tries again.
  void start_thread() {
    if (threads == kThreads || unserved() == users.end()) return;
    const HeldSignals held;  // the thread inherits them
    try {
      std::thread{[self = shared_from_this()] { self->serve(); }}.detach();
      ++threads;
    } catch (const std::system_error&) {
    }
  }
  void serve() noexcept {
    std::unique_lock lock{mutex};
    for (auto user = unserved(); user != users.end(); user = unserved()) {
      user->second.served = true;
      while (!user->second.sockets.empty()) {
        {
          const Fd socket = std::move(user->second.sockets.back());
          user->second.sockets.pop_back();
          lock.unlock();
        }
        lock.lock();
        --sockets;
      }
      users.erase(user);
    }
    --threads;
  }
};

Closing::Closing() : shared_{std::make_shared<Shared>()} {}

void Closing::close(Fd socket, uid_t uid) {
  // From here on the socket receives nothing, so the look at its bytes stays true.
  ::shutdown(socket.get(), SHUT_RDWR);
  if (!holds_descriptors(socket)) return;
  const std::scoped_lock lock{shared_->mutex};
  shared_->users[uid].sockets.push_back(std::move(socket));
  ++shared_->sockets;
  shared_->start_thread();
}

bool Closing::closes_for(uid_t uid) const {
  const std::scoped_lock lock{shared_->mutex};
  shared_->start_thread();
  return shared_->users.count(uid) > 0;
}

std::size_t Closing::size() const {
  const std::scoped_lock lock{shared_->mutex};
  return shared_->sockets;
}

}  // namespace pvrdma::varlink
