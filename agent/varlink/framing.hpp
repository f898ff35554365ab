// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of a varlink connection -> messages; a NUL byte ends each.
//
// Knows no socket and no JSON. Keeps at most one message of the largest length and the bytes fed
// with it, and scans each byte once, however the bytes arrive.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma::varlink {

// A larger buffer is freed once it is empty, so that one long message does not keep its memory.
inline constexpr std::size_t kKeptBytes = 4096;

class Decoder {
 public:
  explicit Decoder(std::size_t limit_bytes) : limit_(limit_bytes) {}

  void feed(std::string_view bytes);
  // The next message without the NUL of that message; none while it is not complete. EMSGSIZE: the
  // message is, or will be, longer than the limit; every later call fails too.
  [[nodiscard]] Result<std::optional<std::string>> next();
  // True where next() would yield a message or an Error.
  [[nodiscard]] bool has_message() const noexcept;
  // True where the buffer holds an incomplete message.
  [[nodiscard]] bool has_part() const noexcept { return !has_message() && begin_ < buffer_.size(); }

 private:
  void find_end(std::size_t from) noexcept { end_ = buffer_.find('\0', from); }

  std::size_t limit_;
  std::string buffer_;
  std::size_t begin_ = 0;                // start of the first message not taken yet
  std::size_t end_ = std::string::npos;  // its NUL
};

// False for JSON text that is nested deeper than `levels`. nlohmann::json copies, compares and
// prints by recursion, so deeply nested text could exhaust the stack.
[[nodiscard]] bool nests_within(std::string_view json_text, std::size_t levels) noexcept;

}  // namespace pvrdma::varlink
