// SPDX-License-Identifier: GPL-2.0-or-later
// Varlink: bytes -> messages -> requests and replies, and back. Bounded in depth and length.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma::varlink {

// A larger buffer is freed once it is empty, so that one long message does not keep its memory.
inline constexpr std::size_t kKeptBytes = 4096;

// Bytes of a varlink connection -> messages; a NUL byte ends each.
//
// Knows no socket and no JSON. Keeps at most one message of the largest length and the bytes fed
// with it, and scans each byte once, however the bytes arrive.
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

// The deepest nesting of arrays and objects that is accepted. The agent's own messages have at most
// eight levels.
inline constexpr std::size_t kDepthLimit = 32;

using Json = nlohmann::json;

struct Request {
  std::string method;  // "io.pvrdma.Agent.GetHealth"
  Json parameters = Json::object();
  bool more = false;     // the client accepts several replies
  bool oneway = false;   // the client expects no reply
  bool upgrade = false;  // the client wants the connection for another protocol
};

struct Reply {
  Json parameters = Json::object();
  std::string error;       // "io.pvrdma.Agent.InUse"; empty: none
  bool continues = false;  // another reply to the same call follows
};

// EBADMSG: not JSON, not UTF-8, not an object, or nested too deeply.
[[nodiscard]] Result<Json> parse_object(std::string_view text);
// EBADMSG also where the object is not a call (or not a reply). Unknown members are ignored.
[[nodiscard]] Result<Request> request_from(std::string_view text);
[[nodiscard]] Result<Reply> reply_from(std::string_view text);

// JSON text in ASCII; this program writes JSON only here. Every other character is escaped, so that
// none can affect a terminal or a log (DEL, C1, U+202E). Bytes that are not UTF-8 (a process may
// have any name) become U+FFFD. `indent` < 0: on one line.
[[nodiscard]] std::string to_text(const Json& value, int indent = -1);

// Whole messages with the NUL at the end. `parameters` is the JSON text of an object.
[[nodiscard]] std::string call_message(std::string_view method, const Json& parameters, bool more);
[[nodiscard]] std::string reply_message(std::string_view parameters, bool continues);
[[nodiscard]] std::string error_message(std::string_view name, const Json& parameters);

}  // namespace pvrdma::varlink
