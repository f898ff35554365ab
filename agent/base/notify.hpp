// Words to the service manager (sd_notify(3)). It reads them as lines NAME=VALUE, so a line end in
// a value would begin an assignment of its own (STOPPING=1): nothing else sends to it.
#pragma once

#include <systemd/sd-daemon.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "agent/base/text.hpp"

namespace pvrdma {

// Sends one assignment, its value made printable and cut to one line of a screen's width or two.
inline void notify(std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 500;
  const std::string assignment = std::string{name} + "=" + printable(value, kLongest);
  // Without a service manager nobody listens, which is no error.
  static_cast<void>(sd_notify(0, assignment.c_str()));
}

}  // namespace pvrdma
