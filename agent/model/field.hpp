// SPDX-License-Identifier: GPL-2.0-or-later
// Field<T>: a value that a look has found known, absent, or unreadable.
//
// Absent and unreadable lead to different decisions: where the driver is absent the function may be
// bound, where it could not be read the function must be left alone. So no probe confuses the two,
// and no rule treats an unreadable field as absent.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/words.hpp"

namespace pvrdma {

template <typename T>
class Field {
 public:
  // Absent, so that a default-constructed value claims nothing.
  Field() = default;
  // Known. Implicit, so that a probe can return the plain value.
  Field(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] static Field absent() { return Field{}; }
  [[nodiscard]] static Field unreadable(Error error) {
    Field field;
    field.value_ = std::move(error);
    return field;
  }
  // Known where the result holds a value, absent for "no such file or device", else unreadable.
  [[nodiscard]] static Field from(Result<T> result) {
    if (result) return Field{std::move(*result)};
    if (means_absent(result.error())) return absent();
    return unreadable(std::move(result.error()));
  }

  [[nodiscard]] bool is_known() const noexcept { return std::holds_alternative<T>(value_); }
  [[nodiscard]] bool is_absent() const noexcept {
    return std::holds_alternative<std::monostate>(value_);
  }
  [[nodiscard]] bool is_unreadable() const noexcept {
    return std::holds_alternative<Error>(value_);
  }

  // Null unless known / unreadable.
  [[nodiscard]] const T* get() const noexcept { return std::get_if<T>(&value_); }
  [[nodiscard]] T* get() noexcept { return std::get_if<T>(&value_); }
  [[nodiscard]] const Error* error() const noexcept { return std::get_if<Error>(&value_); }

  // The value, or `otherwise` where absent or unreadable: for printing, not for deciding.
  [[nodiscard]] T value_or(T otherwise) const { return is_known() ? *get() : std::move(otherwise); }
  // True where known and equal.
  [[nodiscard]] bool is(const T& value) const { return is_known() && *get() == value; }

  friend bool operator==(const Field&, const Field&) = default;

 private:
  std::variant<std::monostate, T, Error> value_;
};

// The word of what is known, else `otherwise`: for printing.
template <has_words Enum>
[[nodiscard]] std::string word_or(const Field<Enum>& field, std::string otherwise) {
  return field.is_known() ? std::string{to_string(*field.get())} : std::move(otherwise);
}

}  // namespace pvrdma
