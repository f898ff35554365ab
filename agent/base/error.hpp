// SPDX-License-Identifier: GPL-2.0-or-later
// Error and Result: how every layer reports what it could not do.
//
// An Error says what was being done, to what, and what the kernel answered. It is built where the
// call failed and gains nothing on its way up: layers below the top return it, the top logs it
// once. Outcomes that are expected (busy, absent, not shipped) are values of their own types, not
// Errors.
#pragma once

#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace pvrdma {

struct Error {
  int code = 0;       // errno value, 0 where no system call was involved
  std::string doing;  // present participle: "reading", "loading module"
  std::string what;   // the object: a path, a module, a function address

  // "reading /proc/modules: Permission denied"
  [[nodiscard]] std::string message() const {
    std::string text = doing;
    if (!what.empty()) text += (text.empty() ? "" : " ") + what;
    // std::generic_category, unlike strerror, is safe beside other threads.
    if (code != 0) text += (text.empty() ? "" : ": ") + std::generic_category().message(code);
    return text;
  }

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

// `return fail(errno, "opening", path);` in a function that returns Result<T>.
[[nodiscard]] inline tl::unexpected<Error> fail(int code, std::string doing, std::string what) {
  return tl::unexpected<Error>(Error{code, std::move(doing), std::move(what)});
}

// Passes an Error of one Result on through another.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace pvrdma
