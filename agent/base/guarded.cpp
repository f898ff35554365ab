// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/base/guarded.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "agent/base/log.hpp"

namespace pvrdma {

namespace {

// Allocates nothing, as memory may have run out. A library's message may quote bad input, so only
// printable ASCII is passed on.
void say(const char* where, const char* what) noexcept {
  std::array<char, 300> line{};
  std::snprintf(line.data(), line.size(), "unexpected in %s: %s", where, what);
  for (char& c : line)
    if (c != '\0' && (c < ' ' || c > '~')) c = '?';
  try {
    log::event(log::Level::Error, {}, line.data());
  } catch (...) {
    std::fprintf(stderr, "%s\n", line.data());
  }
}

}  // namespace

int report_exception(const char* where) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    say(where, "no memory is left");
    return ENOMEM;
  } catch (const std::system_error& error) {
    say(where, error.what());
    return error.code().value() > 0 ? error.code().value() : EIO;
  } catch (const std::exception& error) {
    say(where, error.what());
  } catch (...) {
    say(where, "an exception of no known type");
  }
  return EIO;
}

}  // namespace pvrdma
