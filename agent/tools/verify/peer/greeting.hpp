// SPDX-License-Identifier: GPL-2.0-or-later
// The first lines of a run: they check that both sides speak the same version, and, where a token
// is shared, that the other side knows it. The token itself does not cross the network.
#pragma once

#include <string>
#include <utility>

#include "agent/tools/verify/peer/control.hpp"

namespace pvrdma::verify {

inline constexpr int kProtocolVersion = 1;

enum class Side { Client, Listener };

// One side's part of the greeting, a line at a time.
class Greeting {
 public:
  [[nodiscard]] static Result<Greeting> begin(Side side, const std::string& token);
  // The first line to send.
  [[nodiscard]] Json hello() const;
  // Takes the other side's next line, and sends the answer, if any. An Error as of greet().
  [[nodiscard]] Result<void> take(const Json& came, Control& from, BootTime deadline);
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  Greeting(Side side, std::string token, std::string nonce)
      : side_(side), token_(std::move(token)), nonce_(std::move(nonce)) {}

  [[nodiscard]] Result<void> take_proof(const Json& came, Control& from, BootTime deadline);

  Side side_;
  std::string token_, nonce_;
  std::string proof_, expected_;  // this side's and the other's; set once the other's nonce came
  bool is_over_ = false;
};

// `token` empty: none is shared. An Error: the versions differ, only one side has a token, or the
// tokens differ.
[[nodiscard]] Result<void> greet(Control& control, Side side, const std::string& token,
                                 BootTime deadline);

// Connects to a listener, trying until `until`, and greets within `greet_within`. A listener that
// strangers flood may close this connection, as one of many: then this side connects again. An
// Error as of greet(); the first one where no listener answers any more.
[[nodiscard]] Result<Control> reach(const std::string& host, int port, const std::string& token,
                                    BootTime until, Milliseconds greet_within);

// Returns the first peer that comes to this address (empty: any) and port and greets correctly;
// after the return no other can connect. A connection that sends something else, or nothing for
// three seconds, is a stranger (a port scanner, for example) and is ignored; so is a peer that is
// refused by a side that has a token. All are greeted at once (reception.hpp). An Error as of
// greet(), or ETIMEDOUT.
[[nodiscard]] Result<Control> await_peer(const std::string& address, int port,
                                         const std::string& token, BootTime deadline);

// The token: the first 256 bytes of a file from the descriptor's offset, without a newline at the
// end.
[[nodiscard]] Result<std::string> read_token(int fd);

// HMAC-SHA256 (RFC 2104) in hexadecimal. The kernel's AF_ALG sockets compute it
// (Documentation/crypto/userspace-if.rst), so no cryptographic library is needed.
[[nodiscard]] Result<std::string> hmac(const std::string& key, const std::string& text);
// The Error of a call for hmac() that failed with this errno.
[[nodiscard]] Error hmac_error(int code, std::size_t key_bytes);

}  // namespace pvrdma::verify
