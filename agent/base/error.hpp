// SPDX-License-Identifier: GPL-2.0-or-later
// Error and Result: how every layer reports a failure.
//
// An Error holds what was being done, to what, and the kernel's answer. It is made where the call
// failed and does not change on its way up: lower layers return it, and the top logs it once.
// Expected outcomes (busy, absent, not shipped) are values of their own types, not Errors.
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

// Passes an Error on in another Result.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace pvrdma
