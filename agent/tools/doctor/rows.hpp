// SPDX-License-Identifier: GPL-2.0-or-later
// Fills a row of `doctor` from fields that may be absent or unreadable; and the rows of the
// adapters and their modules.
#pragma once

#include <string>

#include "agent/tools/doctor/checks.hpp"

namespace pvrdma::doctor {

template <typename T>
void take_error(Check& check, const Field<T>& field) {
  if (const Error* error = field.error()) check.unread.push_back(error->message());
}

// Adds the field's text to the row; an unreadable field's error goes to `unread`.
template <typename T, typename Text>
void tell(Check& check, const Field<T>& field, const std::string& absent, Text text) {
  take_error(check, field);
  if (const T* value = field.get()) check.note(text(*value));
  if (field.is_absent() && !absent.empty()) check.note(absent);
}

// The value of a fact that the verdict counts. Null: the field is unreadable, or absent; `unknown`
// is the line for an absent one.
template <typename T>
const T* fact(Check& check, const Field<T>& field, const char* unknown) {
  take_error(check, field);
  if (field.is_absent()) check.unknown(unknown);
  return field.get();
}

// "a, b, c": one text for each; `none` for an empty range.
template <typename Range, typename Text>
std::string listed(const Range& range, const char* none, Text text, const char* separator = ", ") {
  std::string list;
  for (const auto& one : range) list += (list.empty() ? "" : separator) + text(one);
  return list.empty() ? none : list;
}

// adapter_rows.cpp
[[nodiscard]] Check hardware(const Snapshot& snapshot, const Survey& survey);
[[nodiscard]] Check modules(const Snapshot& snapshot);
[[nodiscard]] Check refusals(const Snapshot& snapshot, const Survey& survey);
[[nodiscard]] Check links(const Snapshot& snapshot);
[[nodiscard]] Check ports(const Snapshot& snapshot);
[[nodiscard]] Check gids(const Config& config, const Snapshot& snapshot);

}  // namespace pvrdma::doctor
