// SPDX-License-Identifier: GPL-2.0-or-later
// The first words of a run: that both sides speak the same version, and, where a token is shared,
// that the other one knows it. The token itself does not cross the network.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "agent/tools/verify/peer/control.hpp"

namespace pvrdma::verify {

inline constexpr int kProtocolVersion = 1;

enum class Side { Client, Listener };

// One side's part of them, a line at a time.
class Greeting {
 public:
  [[nodiscard]] static Result<Greeting> begin(Side side, const std::string& token);
  // To be sent first.
  [[nodiscard]] Json hello() const;
  // The other side's next line; what is to be sent in answer, if anything. An Error as of greet().
  [[nodiscard]] Result<std::optional<Json>> take(const Json& came);
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  Greeting(Side side, std::string token, std::string nonce)
      : side_(side), token_(std::move(token)), nonce_(std::move(nonce)) {}

  Side side_;
  std::string token_, nonce_;
  std::string expected_;  // the other side's proof, once its nonce has come
  bool is_over_ = false;
};

// `token` empty: none is shared. An Error where the versions differ, one side only has a token, or
// the tokens differ.
[[nodiscard]] Result<void> greet(Control& control, Side side, const std::string& token,
                                 BootTime deadline);

// The first to come to this address (empty: any) and port who greets as it should; nobody can
// connect once it returns. Who speaks another language, or nothing within three seconds, is a
// stranger, a port scanner for one, and ends nothing; nor does who is refused by a side that has a
// token. All are greeted at once (reception.hpp). An Error as of greet(), or ETIMEDOUT.
[[nodiscard]] Result<Control> await_peer(const std::string& address, int port,
                                         const std::string& token, BootTime deadline);

// The token: the first 256 bytes of a file, from where the descriptor stands, without the newline
// that they may end in.
[[nodiscard]] Result<std::string> read_token(int fd);

// HMAC-SHA256 (RFC 2104) in hexadecimal, by the kernel's AF_ALG sockets (Documentation/crypto/
// userspace-if.rst), so that no cryptographic library is needed.
[[nodiscard]] Result<std::string> hmac(const std::string& key, const std::string& text);

}  // namespace pvrdma::verify
