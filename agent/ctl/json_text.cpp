// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/ctl/json_text.hpp"

#include <nlohmann/json.hpp>

#include "agent/codec/json.hpp"
#include "agent/ctl/text.hpp"
#include "agent/model/catalogue.hpp"
#include "agent/varlink/message.hpp"

namespace pvrdma::ctl {

namespace {

// Null where there is no such field.
const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> text(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return printable(value->get_ref<const std::string&>());
}

std::optional<bool> flag(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

Json or_null(const std::string& text) { return text.empty() ? Json{} : Json(text); }

Json with_commands(const Finding& finding) {
  Json json = codec::to_json(finding);
  json["commands"] = commands_of(finding);
  return json;
}

std::string dumped(const Json& value, int indent) { return varlink::to_text(value, indent); }

}  // namespace pvrdma::ctl
