#include "agent/ctl/fields.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "agent/ctl/text.hpp"
#include "agent/model/health.hpp"
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

std::optional<std::int64_t> number(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  if (value->is_number_unsigned())
    return static_cast<std::int64_t>(
        std::min(value->get<std::uint64_t>(), static_cast<std::uint64_t>(kLargest)));
  return value->get<std::int64_t>();
}

std::optional<bool> flag(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

std::vector<std::string> texts(const Json& object, const char* key) {
  std::vector<std::string> out;
  for (const Json& item : list_of(object, key))
    if (item.is_string()) out.push_back(printable(item.get_ref<const std::string&>()));
  return out;
}

const Json& object_of(const Json& object, const char* key) {
  static const Json empty = Json::object();
  const Json* value = find(object, key);
  return value != nullptr && value->is_object() ? *value : empty;
}

const Json& list_of(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const Json* value = find(object, key);
  return value != nullptr && value->is_array() ? *value : empty;
}

std::string dumped(const Json& value, int indent) { return varlink::to_text(value, indent); }

}  // namespace pvrdma::ctl
