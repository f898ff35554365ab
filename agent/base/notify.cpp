#include "agent/base/notify.hpp"

#include <systemd/sd-daemon.h>

#include <string>

#include "agent/base/text.hpp"

namespace pvrdma {

namespace {

constexpr std::size_t kLongest = 500;

}  // namespace

void notify(std::string_view name, std::string_view value) {
  const std::string assignment = std::string{name} + "=" + printable(value, kLongest);
  // Without a service manager nobody listens, which is no error.
  static_cast<void>(sd_notify(0, assignment.c_str()));
}

}  // namespace pvrdma
