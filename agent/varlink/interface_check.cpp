// SPDX-License-Identifier: GPL-2.0-or-later
// mismatch(): checks whether a JSON value has a declared type. The depth of the value bounds the
// recursion; message.cpp limits that depth for all received JSON.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "agent/base/text.hpp"
#include "agent/varlink/interface.hpp"

namespace pvrdma::varlink {

namespace {

using Json = nlohmann::json;
using Kind = Type::Kind;

// The path of the wrong member, or none; the path is built on the way back.
using Wrong = std::optional<std::string>;

Wrong inside(const std::string& outer, Wrong wrong) {
  if (!wrong) return wrong;
  const bool direct = wrong->empty() || wrong->front() == '[';
  return outer + (direct ? "" : ".") + *wrong;
}

bool fits_int(const Json& value) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value.is_number_integer();
}

Wrong simple(bool right) { return right ? std::nullopt : Wrong{""}; }

struct Checker {
  const Interface& interface;
  Strictness strictness;

  [[nodiscard]] Wrong check(const Type& type, const Json& value) const {
    switch (type.kind) {
      case Kind::Bool:
        return simple(value.is_boolean());
      case Kind::Int:
        return simple(fits_int(value));
      case Kind::Float:
        return simple(value.is_number());
      case Kind::String:
        return simple(value.is_string());
      case Kind::Object:
        return simple(value.is_object());
      case Kind::Enum:
        return simple(value.is_string() && std::count(type.names.begin(), type.names.end(),
                                                      value.get_ref<const std::string&>()) > 0);
      case Kind::Named:
        return check(interface.types.at(type.name), value);
      case Kind::Optional:
        return value.is_null() ? std::nullopt : check(type.types.front(), value);
      case Kind::Array:
        return array(type.types.front(), value);
      case Kind::Map:
        return map(type.types.front(), value);
      case Kind::Struct:
        return members(type, value);
    }
    return "";
  }

  [[nodiscard]] Wrong array(const Type& of, const Json& value) const {
    if (!value.is_array()) return "";
    for (std::size_t i = 0; i < value.size(); ++i)
      if (auto wrong = check(of, value[i]))
        return inside("[" + std::to_string(i) + "]", std::move(wrong));
    return std::nullopt;
  }

  [[nodiscard]] Wrong map(const Type& of, const Json& value) const {
    if (!value.is_object()) return "";
    for (const auto& [key, entry] : value.items())
      if (auto wrong = check(of, entry)) return inside(key, std::move(wrong));
    return std::nullopt;
  }

  [[nodiscard]] Wrong members(const Type& type, const Json& value) const {
    if (!value.is_object()) return "";
    for (std::size_t i = 0; i < type.names.size(); ++i) {
      const auto found = value.find(type.names[i]);
      if (found == value.end()) {
        const bool optional = type.types[i].kind == Kind::Optional;
        if (!optional || strictness == Strictness::Complete) return type.names[i];
      } else if (auto wrong = check(type.types[i], *found)) {
        return inside(type.names[i], std::move(wrong));
      }
    }
    if (strictness == Strictness::Reply) return std::nullopt;
    for (const auto& [key, entry] : value.items())
      if (!contains(type.names, key)) return key;
    return std::nullopt;
  }
};

}  // namespace

std::optional<std::string> mismatch(const Interface& interface, const Type& type,
                                    const nlohmann::json& value, Strictness strictness) {
  return Checker{interface, strictness}.check(type, value);
}

}  // namespace pvrdma::varlink
