// SPDX-License-Identifier: GPL-2.0-or-later
// No exception may leave a function that C calls (a callback of sd-event or libnl: unwinding
// through C is undefined), a thread, or main(). Expected failures are Results, so an exception
// means that memory has run out, or a bug. It is logged once, here.
#pragma once

#include <systemd/sd-event.h>

#include <cstdlib>
#include <type_traits>
#include <utility>

namespace pvrdma {

// Logs the current exception; call it in a catch block. Returns ENOMEM for std::bad_alloc, the
// number of a std::system_error, otherwise EIO. `where`: the function's name (clang 14 cannot read
// GCC's std::source_location).
[[nodiscard]] int report_exception(const char* where) noexcept;

// Returns the result of `body` (0 for void), or a negative errno where it throws.
template <typename Body>
[[nodiscard]] int guarded(Body&& body, const char* where = __builtin_FUNCTION()) noexcept try {
  if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
    std::forward<Body>(body)();
    return 0;
  } else {
    return std::forward<Body>(body)();
  }
} catch (...) {
  return -report_exception(where);
}

// For a callback of sd-event. Where `body` throws or fails, the loop ends with that errno, and
// systemd starts the program again. Otherwise sd-event would only disable the source, and the
// program would wait for events that never come. `body` may free the source.
template <typename Body>
[[nodiscard]] int guarded_callback(sd_event_source* source, Body&& body,
                                   const char* where = __builtin_FUNCTION()) noexcept {
  sd_event* const event = sd_event_source_get_event(source);
  const int result = guarded(std::forward<Body>(body), where);
  if (result < 0) static_cast<void>(sd_event_exit(event, result));
  return result;
}

// For the body of a thread that the program cannot work without: where it throws, the program ends
// at once. A thread that can go on uses guarded() inside its loop.
template <typename Body>
void guarded_thread(Body&& body, const char* where = __builtin_FUNCTION()) noexcept {
  if (guarded(std::forward<Body>(body), where) < 0) std::_Exit(EXIT_FAILURE);
}

// For main(): returns the result of `body`, or EXIT_FAILURE where it throws.
template <typename Body>
[[nodiscard]] int guarded_main(Body&& body, const char* where = __builtin_FUNCTION()) noexcept {
  const int code = guarded(std::forward<Body>(body), where);
  return code < 0 ? EXIT_FAILURE : code;
}

}  // namespace pvrdma
