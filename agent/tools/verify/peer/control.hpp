// SPDX-License-Identifier: GPL-2.0-or-later
// The TCP connection between two machines that measure: lines of JSON, and raw bytes where TCP
// itself is measured. All that comes over it is untrusted: lines and times are bounded.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::verify {

using Json = nlohmann::json;

inline constexpr std::size_t kLineAtMost = 4096;
// The longest --duration of a client that a listener serves whose own is shorter.
inline constexpr Milliseconds kDurationAtMost = std::chrono::hours{1};
// Before its answer pvrdma-verify tells its caller by such a line, with the number, that it serves
// a client whose duration is longer than its own.
inline constexpr std::string_view kServesFor = "serves a client whose duration in ms is ";

// A text in a message's object; empty: there is no such text.
[[nodiscard]] std::string text_in(const Json& object, const char* key);
// The form of bytes in messages, two digits each.
[[nodiscard]] std::string hexadecimal(std::span<const unsigned char> bytes);

// Of the error codes of a name's addresses, the one that tells most about the other side; of
// equal ones the later. `before` 0: there is none yet.
[[nodiscard]] int more_telling(int before, int tried);

class Control {
 public:
  explicit Control(Fd fd) : fd_(std::move(fd)) {}

  // `host`: an address or a name. Tries until `deadline`, as the other side may not listen yet.
  [[nodiscard]] static Result<Control> connect(const std::string& host, int port,
                                               BootTime deadline);

  [[nodiscard]] Result<void> send(const Json& message, BootTime deadline);
  // Receives an object. EBADMSG: the line is no object; EMSGSIZE: it is too long; ECONNRESET: the
  // end.
  [[nodiscard]] Result<Json> receive(BootTime deadline);
  // Like receive(), from a greeted peer: a failure that the peer reports is the Error.
  [[nodiscard]] Result<Json> receive_answer(BootTime deadline);
  // Raw bytes; each call transfers exactly `bytes`.
  [[nodiscard]] Result<void> write(const std::byte* data, std::size_t bytes, BootTime deadline);
  [[nodiscard]] Result<void> read(std::byte* data, std::size_t bytes, BootTime deadline);
  // Sends the reason of a failure as the last line; the peer would otherwise see only the end.
  void send_failure(const Error& why);
  // An Error where the peer reports a failure, or (ECONNRESET) has closed. Does not wait, and
  // leaves received lines to receive().
  [[nodiscard]] Result<void> check_peer();
  // The address of the peer, as text.
  [[nodiscard]] std::string peer() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  [[nodiscard]] Result<void> wait(short events, BootTime deadline) const;
  // Waits until there is data, and reads some. Returns the number of bytes.
  [[nodiscard]] Result<std::size_t> read_some(std::byte* data, std::size_t bytes,
                                              BootTime deadline) const;

  Fd fd_;
  std::string received_;  // the bytes after the last line
};

// When it is destroyed, no peer can connect any more.
class Listener {
 public:
  // `address` empty: any address, IPv6 and IPv4. EADDRNOTAVAIL: the address is another machine's.
  // `waiting`: how many peers may wait in the queue.
  [[nodiscard]] static Result<Listener> open(const std::string& address, int port, int waiting);
  // ETIMEDOUT after the deadline, even where peers wait.
  [[nodiscard]] Result<Control> accept(BootTime deadline) const;
  [[nodiscard]] std::string address() const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit Listener(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace pvrdma::verify
