// SPDX-License-Identifier: GPL-2.0-or-later
// Catches a program's messages to the service manager, by a socket in its place (NOTIFY_SOCKET),
// and its standard error, by a file.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::test {

// Takes the service manager's place while it lives.
class Manager {
 public:
  Manager() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const std::string path = tree_ / "/notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Manager() { ::unsetenv("NOTIFY_SOCKET"); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  [[nodiscard]] std::string address() const { return tree_ / "/notify"; }
  // The datagrams since the last call.
  [[nodiscard]] std::vector<std::string> heard() const {
    std::vector<std::string> messages;
    std::array<char, 65536> bytes{};
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got < 0) return messages;
      messages.emplace_back(bytes.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  Tree tree_;
  Fd socket_;
};

// Catches standard error while it lives; log messages go there as well, as without a journal.
class ErrorOutput {
 public:
  ErrorOutput() : before_(::dup(STDERR_FILENO)) {
    ::unsetenv("JOURNAL_STREAM");
    tree_.file("/err", "");
    const Fd file{::open((tree_ / "/err").c_str(), O_WRONLY | O_CLOEXEC)};
    std::fflush(stderr);
    ::dup2(file.get(), STDERR_FILENO);
  }
  ~ErrorOutput() {
    std::fflush(stderr);
    ::dup2(before_.get(), STDERR_FILENO);
  }
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;

  [[nodiscard]] std::string text() const {
    std::fflush(stderr);
    return tree_.read("/err");
  }

 private:
  Tree tree_;
  Fd before_;
};

}  // namespace pvrdma::test
