// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of a varlink connection -> messages: each is ended by a NUL byte.
//
// Knows no socket and no JSON. Holds no more than one message of the limit's length and what was
// fed with it, and looks at each byte once, however the bytes arrive.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma::varlink {

// A client that once sent or was sent something long does not keep its memory for ever.
inline constexpr std::size_t kKeptBytes = 4096;

class Decoder {
 public:
  explicit Decoder(std::size_t limit_bytes) : limit_(limit_bytes) {}

  void feed(std::string_view bytes);
  // The next message without its NUL; none while it is not complete. EMSGSIZE: it is, or will be,
  // longer than the limit; every later call says so again.
  [[nodiscard]] Result<std::optional<std::string>> next();
  // next() would yield a message or an Error.
  [[nodiscard]] bool has_message() const noexcept;
  // Bytes of a message whose end has not come yet.
  [[nodiscard]] bool has_part() const noexcept { return !has_message() && begin_ < buffer_.size(); }

 private:
  void find_end(std::size_t from) noexcept { end_ = buffer_.find('\0', from); }

  std::size_t limit_;
  std::string buffer_;
  std::size_t begin_ = 0;                // of the first message not taken yet
  std::size_t end_ = std::string::npos;  // its NUL
};

// False for JSON text nested deeper than any message of ours: nlohmann::json copies, compares and
// prints by recursion, so such a text could exhaust the stack.
[[nodiscard]] bool nests_within(std::string_view json_text, std::size_t levels) noexcept;

}  // namespace pvrdma::varlink
