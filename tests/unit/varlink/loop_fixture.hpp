// SPDX-License-Identifier: GPL-2.0-or-later
// A service on a real event loop, and raw clients that the test drives in the same thread: every
// wait runs the loop, for five seconds at most.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "agent/base/handle.hpp"
#include "agent/varlink/service.hpp"

namespace pvrdma::test {

class Loop {
 public:
  Loop() {
    sd_event* event = nullptr;
    if (sd_event_new(&event) < 0) std::abort();
    event_.reset(event);
  }
  [[nodiscard]] sd_event* get() const { return event_.get(); }
  // Runs the loop until `done`; false: `limit` has passed.
  bool run_until(const std::function<bool()>& done,
                 std::chrono::milliseconds limit = std::chrono::seconds{5}) const {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      sd_event_run(event_.get(), 10'000);
    }
    return true;
  }

 private:
  Handle<sd_event, sd_event_unref> event_;
};

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pvrdma-vl-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    std::filesystem::permissions(path_, std::filesystem::perms{0755});
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A non-blocking client for raw bytes.
class RawClient {
 public:
  RawClient(const Loop& loop, const std::string& path)
      : loop_(&loop), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] int fd() const { return socket_.get(); }

  // Sends as much as the socket takes; returns the number of bytes.
  [[nodiscard]] std::size_t send_some(std::string_view bytes) const {
    const ssize_t put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return put < 0 ? 0 : static_cast<std::size_t>(put);
  }
  // Sends all bytes, and lets the service read meanwhile.
  bool send(std::string_view bytes) const {
    return loop_->run_until([&] {
      bytes.remove_prefix(send_some(bytes));
      return bytes.empty();
    });
  }
  bool call(const std::string& json) const { return send(json + '\0'); }
  // The next message; none: the service hung up, or sent nothing for five seconds.
  std::optional<std::string> receive() {
    loop_->run_until([&] {
      read();
      return eof_ || input_.find('\0') != std::string::npos;
    });
    const std::size_t end = input_.find('\0');
    if (end == std::string::npos) return std::nullopt;
    std::string message = input_.substr(0, end);
    input_.erase(0, end + 1);
    return message;
  }
  std::optional<std::string> ask(const std::string& json) {
    return call(json) ? receive() : std::nullopt;
  }
  // True where the service hangs up within five seconds; earlier replies are discarded.
  bool is_cut_off() {
    return loop_->run_until([&] {
      read();
      return eof_;
    });
  }
  void shut_writing() const { ::shutdown(socket_.get(), SHUT_WR); }
  void leave() { socket_ = Fd{}; }

 private:
  void read() {
    std::string chunk(65536, '\0');
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got > 0) input_.append(chunk, 0, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN)) eof_ = true;
  }

  const Loop* loop_;
  Fd socket_;
  std::string input_;
  bool connected_ = false;
  bool eof_ = false;
};

}  // namespace pvrdma::test
