// SPDX-License-Identifier: GPL-2.0-or-later
// Varlink messages -> requests and replies, and back. Bounded in depth; the length is the
// decoder's affair.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/error.hpp"

namespace pvrdma::varlink {

// A message of this many nested arrays and objects is still read. Ours have at most eight.
inline constexpr std::size_t kDepthLimit = 32;

using Json = nlohmann::json;

struct Request {
  std::string method;  // "io.pvrdma.Agent.GetHealth"
  Json parameters = Json::object();
  bool more = false;     // the client takes several replies
  bool oneway = false;   // the client takes none
  bool upgrade = false;  // the client wants the connection for another protocol
};

struct Reply {
  Json parameters = Json::object();
  std::string error;       // "io.pvrdma.Agent.InUse"; empty: none
  bool continues = false;  // another reply to the same call follows
};

// EBADMSG: not JSON, not UTF-8, not an object, or nested too deeply.
[[nodiscard]] Result<Json> parse_object(std::string_view text);
// EBADMSG also where an object is not a call (or not a reply). Members not known are ignored.
[[nodiscard]] Result<Request> request_from(std::string_view text);
[[nodiscard]] Result<Reply> reply_from(std::string_view text);

// JSON text in ASCII, the only one that this program writes: every other character is an escape, so
// that none does anything to a terminal or a log (DEL, C1, U+202E), and what is not UTF-8 (a
// process may call itself anything) is U+FFFD. `indent` < 0: on one line.
[[nodiscard]] std::string to_text(const Json& value, int indent = -1);

// Whole messages, the ending NUL included. `parameters` is an object's JSON text.
[[nodiscard]] std::string call_message(std::string_view method, const Json& parameters, bool more);
[[nodiscard]] std::string reply_message(std::string_view parameters, bool continues);
[[nodiscard]] std::string error_message(std::string_view name, const Json& parameters);

}  // namespace pvrdma::varlink
