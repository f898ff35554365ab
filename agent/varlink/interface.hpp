// SPDX-License-Identifier: GPL-2.0-or-later
// Parses varlink interface descriptions, and checks JSON values against them
// (https://varlink.org/Interface-Definition).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"

namespace pvrdma::varlink {

struct Type {
  enum class Kind { Bool, Int, Float, String, Object, Enum, Struct, Named, Optional, Array, Map };
  Kind kind = Kind::Struct;
  std::string name;                // Named: the name of a type of the same interface
  std::vector<std::string> names;  // Enum: its words; Struct: the names of its members
  // Struct: the types of its members; Optional, Array, Map: the inner type.
  std::vector<Type> types;
};

struct Method {
  Type in;   // a Struct
  Type out;  // a Struct
};

struct Interface {
  std::string name;  // "io.pvrdma.Agent"
  std::map<std::string, Type, std::less<>> types;
  std::map<std::string, Method, std::less<>> methods;
  std::map<std::string, Type, std::less<>> errors;
};

// EINVAL names the line and the expected token. In a parsed interface every Named type exists.
[[nodiscard]] Result<Interface> parse_interface(std::string_view text);

enum class Strictness {
  Request,   // optional members may be left out, unknown ones are errors
  Reply,     // optional members may be left out, unknown ones are allowed (from a later version)
  Complete,  // every member must be there, null where it has no value, and no other
};

// The first member of `value` that does not fit `type` (of `interface`): "adapter", "addresses[1]",
// "evidence.holders[0].pid"; "" for the value itself. None: the value fits.
[[nodiscard]] std::optional<std::string> mismatch(const Interface& interface, const Type& type,
                                                  const nlohmann::json& value,
                                                  Strictness strictness);

}  // namespace pvrdma::varlink
