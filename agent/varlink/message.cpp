// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/varlink/message.hpp"

#include <cerrno>
#include <utility>

#include "agent/varlink/framing.hpp"

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
