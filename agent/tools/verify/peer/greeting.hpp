// The first words of a run: that both sides speak the same version, and, where a token is shared,
// that the other one knows it. The token itself does not cross the network.
#pragma once

#include <string>

#include "agent/tools/verify/peer/control.hpp"

namespace pvrdma::verify {

inline constexpr int kProtocolVersion = 1;

enum class Side { Client, Listener };

// `token` empty: none is shared. An Error where the versions differ, one side only has a token, or
// the tokens differ.
[[nodiscard]] Result<void> greet(Control& control, Side side, const std::string& token,
                                 BootTime deadline);

// The first to come to this address (empty: any) and port who greets as it should; nobody can
// connect once it returns. Who speaks another language, or nothing within three seconds, is a
// stranger, a port scanner for one, and ends nothing; nor does who is refused by a side that has a
// token. An Error as of greet(), or, within the three seconds after the deadline, ETIMEDOUT.
[[nodiscard]] Result<Control> await_peer(const std::string& address, int port,
                                         const std::string& token, BootTime deadline);

// The token: the first 256 bytes of a file, from where the descriptor stands, without the newline
// that they may end in.
[[nodiscard]] Result<std::string> read_token(int fd);

// HMAC-SHA256 (RFC 2104) in hexadecimal, by the kernel's AF_ALG sockets (Documentation/crypto/
// userspace-if.rst), so that no cryptographic library is needed.
[[nodiscard]] Result<std::string> hmac(const std::string& key, const std::string& text);

}  // namespace pvrdma::verify
