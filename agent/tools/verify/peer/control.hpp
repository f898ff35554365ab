// SPDX-License-Identifier: GPL-2.0-or-later
// The TCP connection between two machines that measure: lines of JSON, and raw bytes where TCP
// itself is measured. Whatever comes over it is a stranger's: lines are bounded, times are bounded.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::verify {

using Json = nlohmann::json;

inline constexpr std::size_t kLineAtMost = 4096;

// Of a message's object. Empty where there is no such text.
[[nodiscard]] std::string text_in(const Json& object, const char* key);
// Bytes as messages have them, two digits each.
[[nodiscard]] std::string hexadecimal(std::span<const unsigned char> bytes);

class Control {
 public:
  explicit Control(Fd fd) : fd_(std::move(fd)) {}

  // An address or a name. Tried again until `deadline`, as the other side may not listen yet.
  [[nodiscard]] static Result<Control> connect(const std::string& host, int port,
                                               BootTime deadline);

  [[nodiscard]] Result<void> send(const Json& message, BootTime deadline);
  // An object. EBADMSG: it was none; EMSGSIZE: the line is too long; ECONNRESET: the end.
  [[nodiscard]] Result<Json> receive(BootTime deadline);
  // The same, of a peer that has been greeted: where it says that it failed, that is the Error.
  [[nodiscard]] Result<Json> receive_answer(BootTime deadline);
  // Raw bytes, both as many as are asked for.
  [[nodiscard]] Result<void> write(const std::byte* data, std::size_t bytes, BootTime deadline);
  [[nodiscard]] Result<void> read(std::byte* data, std::size_t bytes, BootTime deadline);
  // The last line of a side that fails: of what failed, the other one may see nothing but the end.
  void send_failure(const Error& why);
  // An Error where the other side says that it failed, or (ECONNRESET) has ended. Waits for
  // nothing, and leaves what came to receive().
  [[nodiscard]] Result<void> check_peer();
  // Of the other side and of this one, as text.
  [[nodiscard]] std::string peer() const;
  [[nodiscard]] std::string own() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  [[nodiscard]] Result<void> wait(short events, BootTime deadline) const;
  // What is there, once something is; how much.
  [[nodiscard]] Result<std::size_t> read_some(std::byte* data, std::size_t bytes,
                                              BootTime deadline) const;

  Fd fd_;
  std::string received_;  // behind the last line
};

// Nobody can connect once it is gone.
class Listener {
 public:
  // `address` empty: any, of IPv6 and IPv4. EADDRNOTAVAIL: it is another machine's. `waiting`: how
  // many may wait.
  [[nodiscard]] static Result<Listener> open(const std::string& address, int port, int waiting);
  // ETIMEDOUT once the deadline has passed, whoever waits.
  [[nodiscard]] Result<Control> accept(BootTime deadline) const;
  [[nodiscard]] std::string address() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit Listener(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace pvrdma::verify
