// How a row of `doctor` is filled from fields that may be absent or unreadable.
#pragma once

#include <string>

#include "agent/tools/doctor/checks.hpp"

namespace pvrdma::doctor {

// The field's text for the reader; what is unreadable goes where that goes.
template <typename T, typename Text>
void tell(Check& check, const Field<T>& field, const std::string& absent, Text text) {
  if (const T* value = field.get())
    check.note(text(*value));
  else if (const Error* error = field.error())
    check.unread.push_back(error->message());
  else if (!absent.empty())
    check.note(absent);
}

// The value of a fact that counts; null: it is unreadable, or absent, which is said in `unknown`.
template <typename T>
const T* fact(Check& check, const Field<T>& field, const char* unknown) {
  if (const Error* error = field.error()) check.unread.push_back(error->message());
  if (field.is_absent()) check.unknown(unknown);
  return field.get();
}

// "a, b, c": a text for each; `none` where there is nothing.
template <typename Range, typename Text>
std::string listed(const Range& range, const char* none, Text text, const char* separator = ", ") {
  std::string list;
  for (const auto& one : range) list += (list.empty() ? "" : separator) + text(one);
  return list.empty() ? none : list;
}

}  // namespace pvrdma::doctor
