// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the MTU to several hosts at once. A Measurement is what is known of one of them, also
// while it is measured: a plain value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl {
struct MtuOptions;
}

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
using Measurements = std::vector<Measurement>;

// Whether packets of the size that is expected pass; the larger, the worse.
enum class Carries { Yes, Unknown, No };

// A packet of that size that passed is proof, also where the search did not come to its end.
[[nodiscard]] Carries carries(const Measurement& one, unsigned bytes);
// All paths: No as soon as one does not; Yes only where each is known to.
[[nodiscard]] Carries carries(const Measurements& all, unsigned bytes);

// A measurement for each of the options' hosts, in their order; returns after their timeout, names
// included, at the latest, with what is known by then. What one host suffers is in its own
// measurement: an Error is one of the loop (errno of eventfd(2) or poll(2)). `interface`: the only
// one to measure from; empty: where the route goes. `tell` hears of every step, for a progress
// display.
[[nodiscard]] Result<Measurements> measure(const MtuOptions& options, const std::string& interface,
                                           const std::function<void(const Measurements&)>& tell);

}  // namespace pvrdma::ctl::pmtu
