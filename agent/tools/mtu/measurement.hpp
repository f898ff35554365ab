// What is known of the MTU to one host, while it is measured and afterwards: a plain value.
#pragma once

#include <optional>
#include <string>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl::pmtu {

struct Measurement {
  std::string host;       // as it was given; raw, so printable() before it is printed
  std::string address;    // in numbers; empty while, or because, the name has none
  std::string interface;  // of the local link; empty where it is not known for sure
  bool raw_socket = false;
  bool done = false;
  unsigned trying = 0;  // bytes of the packet under way
  Outcome outcome;
  Milliseconds took{0};
  std::optional<Error> error;             // what ended it
  std::optional<Error> said_unreachable;  // the latest such word, and whose it was
  unsigned smallest = 0;                  // bytes of the smallest packet that was tried

  // The MTU was found.
  [[nodiscard]] bool found() const { return !error && outcome.exact; }
};

}  // namespace pvrdma::ctl::pmtu
