// SPDX-License-Identifier: GPL-2.0-or-later
// Varlink interface descriptions: parsed, and used to check JSON values
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
  std::string name;                // Named: of a type of the same interface
  std::vector<std::string> names;  // Enum: its words; Struct: its members' names
  std::vector<Type> types;         // Struct: its members' types; Optional, Array, Map: of what
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

// EINVAL names the line and what was expected there. Every Named type is known afterwards.
[[nodiscard]] Result<Interface> parse_interface(std::string_view text);

enum class Strictness {
  Request,   // optional members may be left out, unknown ones are wrong
  Reply,     // optional members may be left out, unknown ones are of a later version
  Complete,  // every member is there, null where it has no value, and no other
};

// The first member of `value` that is not as `type` (of `interface`) has it: "adapter",
// "addresses[1]", "evidence.holders[0].pid"; "" for the value itself. None: all is well.
[[nodiscard]] std::optional<std::string> mismatch(const Interface& interface, const Type& type,
                                                  const nlohmann::json& value,
                                                  Strictness strictness);

}  // namespace pvrdma::varlink
