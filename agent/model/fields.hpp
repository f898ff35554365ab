// SPDX-License-Identifier: GPL-2.0-or-later
// One walk over the Fields within a value of the model, for whatever asks which could be read.
#pragma once

#include <string>
#include <type_traits>

#include "agent/model/members.hpp"

namespace pvrdma {

template <typename Value>
concept has_members = requires(Value& value) {
  each_member(value, [](const char*, auto&) {});
};

template <typename T>
inline constexpr bool is_field = false;
template <typename T>
inline constexpr bool is_field<Field<T>> = true;

// Calls visit(path, field) for each Field, and for those within what is known. A path has the
// names of the members ("rdma_device.port.state"); an entry of a table goes by its index there.
template <typename Value, typename Visit>
void each_field(Value& value, const Visit& visit, const std::string& path = {}) {
  if constexpr (is_field<std::remove_const_t<Value>>) {
    visit(path, value);
    if (auto* known = value.get()) each_field(*known, visit, path);
  } else if constexpr (has_members<Value>) {
    each_member(value, [&](const char* name, auto& member) {
      each_field(member, visit, path.empty() ? name : path + "." + name);
    });
  } else if constexpr (requires { value.front().index; }) {
    for (auto& entry : value)
      each_field(entry, visit, path + "[" + std::to_string(entry.index) + "]");
  }
}

}  // namespace pvrdma
