// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/message.hpp"

#include <cerrno>
#include <utility>

namespace pvrdma::varlink {

namespace {

// Moves an object's member out where it has the right type; leaves `into` unchanged where the
// member is missing or null. False: the member has another type.
template <typename Type, typename Into>
bool take(Json& object, const char* key, Into& into) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return true;
  auto* const value = found->get_ptr<Type*>();
  if (value != nullptr) into = std::move(*value);
  return value != nullptr;
}

}  // namespace

void Decoder::feed(std::string_view bytes) {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    if (end_ != std::string::npos) end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t seen = buffer_.size();
  buffer_.append(bytes);
  if (end_ == std::string::npos) find_end(seen);
}

bool Decoder::has_message() const noexcept {
  return end_ != std::string::npos || buffer_.size() - begin_ > limit_;
}

Result<std::optional<std::string>> Decoder::next() {
  if (!has_message()) return std::nullopt;
  const std::size_t length = (end_ == std::string::npos ? buffer_.size() : end_) - begin_;
  if (length > limit_)
    return fail(EMSGSIZE, "receiving", "a message of more than " + std::to_string(limit_) + " B");
  std::string message = buffer_.substr(begin_, length);
  begin_ = end_ + 1;
  find_end(begin_);
  if (begin_ == buffer_.size()) {
    begin_ = 0;
    if (buffer_.capacity() > kKeptBytes)
      buffer_ = {};
    else
      buffer_.clear();
  }
  return message;
}

bool nests_within(std::string_view json_text, std::size_t levels) noexcept {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json_text.size(); ++i) {
    const char c = json_text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return false;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

Result<Json> parse_object(std::string_view text) {
  if (!nests_within(text, kDepthLimit)) return fail(EBADMSG, "parsing", "JSON nested too deeply");
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return fail(EBADMSG, "parsing", "text that is not JSON");
  if (!value.is_object()) return fail(EBADMSG, "parsing", "JSON that is not an object");
  return value;
}

Result<Request> request_from(std::string_view text) {
  auto object = parse_object(text);
  if (!object) return fail(std::move(object.error()));
  Request request;
  if (!take<std::string>(*object, "method", request.method) || request.method.empty() ||
      !take<Json::object_t>(*object, "parameters", request.parameters) ||
      !take<bool>(*object, "more", request.more) ||
      !take<bool>(*object, "oneway", request.oneway) ||
      !take<bool>(*object, "upgrade", request.upgrade) || (request.more && request.oneway))
    return fail(EBADMSG, "parsing", "a message that is not a varlink call");
  return request;
}

Result<Reply> reply_from(std::string_view text) {
  auto object = parse_object(text);
  if (!object) return fail(std::move(object.error()));
  Reply reply;
  if (!take<Json::object_t>(*object, "parameters", reply.parameters) ||
      !take<std::string>(*object, "error", reply.error) ||
      !take<bool>(*object, "continues", reply.continues))
    return fail(EBADMSG, "parsing", "a message that is not a varlink reply");
  return reply;
}

std::string to_text(const Json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string call_message(std::string_view method, const Json& parameters, bool more) {
  Json call = {{"method", method}, {"parameters", parameters}};
  if (more) call["more"] = true;
  return to_text(call) + '\0';
}

std::string reply_message(std::string_view parameters, bool continues) {
  constexpr std::string_view kHead = R"({"parameters":)";
  const std::string_view tail = continues ? R"(,"continues":true})" : "}";
  std::string text;
  text.reserve(kHead.size() + parameters.size() + tail.size() + 1);
  text.append(kHead).append(parameters).append(tail).push_back('\0');
  return text;
}

std::string error_message(std::string_view name, const Json& parameters) {
  return to_text({{"error", name}, {"parameters", parameters}}) + '\0';
}

}  // namespace pvrdma::varlink
