// SPDX-License-Identifier: GPL-2.0-or-later
// Varlink messages -> requests and replies, and back. Bounded in depth; the decoder bounds the
// length.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma::varlink {

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
