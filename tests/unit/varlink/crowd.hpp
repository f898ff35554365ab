// SPDX-License-Identifier: GPL-2.0-or-later
// Clients of another user, in a process of their own, so that the service sees that user's
// credentials (SO_PEERCRED). Needs root.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/varlink/loop_fixture.hpp"

namespace pvrdma::test {

class Crowd {
 public:
  // Each client sends `message` and then only listens. When this returns, each has been accepted or
  // disconnected.
  Crowd(const Loop& loop, const std::string& path, uid_t uid, int clients,
        const std::string& message)
      : loop_(&loop) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours_ = Fd{ends[0]};
    const Fd theirs{ends[1]};
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) be_crowd(theirs.get(), path, uid, clients, message + '\0');
    static_cast<void>(listening());
    drain();
  }
  ~Crowd() { leave(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // The number of clients still connected.
  [[nodiscard]] int listening() const {
    drain();
    const char question = '?';
    REQUIRE(::send(ours_.get(), &question, 1, MSG_NOSIGNAL) == 1);
    int count = -1;
    REQUIRE(loop_->run_until(
        [&] { return ::recv(ours_.get(), &count, sizeof count, MSG_DONTWAIT) == sizeof count; }));
    return count;
  }
  void leave() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  // Lets the service do all pending work.
  void drain() const {
    while (sd_event_run(loop_->get(), 0) > 0) {
    }
  }
  [[noreturn]] static void be_crowd(int parent, const std::string& path, uid_t uid, int clients,
                                    const std::string& message) {
    // The fork copied the service's sockets, which would look open as long as this process lives.
    constexpr int kKept = 3;
    if (::dup2(parent, kKept) < 0 || ::syscall(__NR_close_range, kKept + 1, ~0U, 0) != 0 ||
        ::setresuid(uid, uid, uid) != 0)
      ::_exit(1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    std::vector<int> sockets;
    for (int i = 0; i < clients; ++i) {
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        ::_exit(2);
      static_cast<void>(::send(socket, message.data(), message.size(), MSG_NOSIGNAL));
      sockets.push_back(socket);
    }
    for (char question = 0; ::recv(kKept, &question, 1, 0) == 1;) {
      int open = 0;
      for (const int socket : sockets) {
        char byte = 0;
        const ssize_t got = ::recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
        if (got > 0 || (got < 0 && errno == EAGAIN)) ++open;
      }
      static_cast<void>(::send(kKept, &open, sizeof open, MSG_NOSIGNAL));
    }
    ::_exit(0);
  }

  const Loop* loop_;
  Fd ours_;
  pid_t child_ = -1;
};

}  // namespace pvrdma::test
