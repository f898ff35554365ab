// SPDX-License-Identifier: GPL-2.0-or-later
// Visits every Field in a value of the model, for code that asks which of them are unreadable.
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

// The place of a Field within a value. Its text is made only where it is asked for: the walks of a
// look ask for the few fields that are unreadable.
struct FieldPath {
  const FieldPath* parent = nullptr;  // null: the value itself
  const char* name = nullptr;         // of the member; null: an entry of a table
  unsigned index = 0;                 // of that entry

  // The names of the members ("rdma_device.port.state"); an entry goes by its index in the table.
  [[nodiscard]] std::string text() const {
    if (parent == nullptr) return {};
    const std::string before = parent->text();
    if (name == nullptr) return before + "[" + std::to_string(index) + "]";
    return before.empty() ? name : before + "." + name;
  }
};

// Calls visit(path, field) for each Field, and for those within what is known.
template <typename Value, typename Visit>
void each_field(Value& value, const Visit& visit, const FieldPath& path = {}) {
  if constexpr (is_field<std::remove_const_t<Value>>) {
    visit(path, value);
    if (auto* known = value.get()) each_field(*known, visit, path);
  } else if constexpr (has_members<Value>) {
    each_member(value, [&](const char* name, auto& member) {
      each_field(member, visit, FieldPath{&path, name});
    });
  } else if constexpr (requires { value.front().index; }) {
    for (auto& entry : value) each_field(entry, visit, FieldPath{&path, nullptr, entry.index});
  }
}

}  // namespace pvrdma
