// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the MTU to several hosts at once. A Measurement is what is known of one of them, also
// while it is measured: a plain value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/rooted_path.hpp"
#include "agent/tools/mtu/search.hpp"

namespace pvrdma::ctl::pmtu {

struct Measurement {
  std::string host;       // as it was given; raw, so printable() before it is printed
  std::string address;    // in numbers; empty: not known yet, or the name has none
  std::string interface;  // of the local link; empty where it is not known
  bool done = false;
  unsigned trying = kLeastMtu;  // bytes of the packets under way
  Outcome outcome;
  Milliseconds took{0};
  std::string error;        // why the measurement failed; empty: it did not
  std::string unreachable;  // the last such message and its sender; empty: none

  // The MTU was found.
  [[nodiscard]] bool found() const { return error.empty() && outcome.exact; }
};
using Measurements = std::vector<Measurement>;

// Whether packets of the expected size pass. In order from good to bad.
enum class Carries { Yes, Unknown, No };

// A packet of that size that passed is proof, also where the search did not come to its end.
[[nodiscard]] Carries carries(const Measurement& one, unsigned bytes);
// No if one path does not carry them; Yes if all do.
[[nodiscard]] Carries carries(const Measurements& all, unsigned bytes);

// The interface of the PVRDMA adapter with this PCI address, RDMA device or interface, by sysfs.
// Errors: there is no such adapter, or it has no interface (without errno); it could not be read.
[[nodiscard]] Result<std::string> interface_of_adapter(const Root& root, const std::string& name);

// A measurement for each of the options' hosts, in their order, with what is known by the programs'
// deadline. `tell` hears of every step, for a progress display.
[[nodiscard]] Measurements measure(const std::vector<std::string>& hosts, const Programs& programs,
                                   const std::function<void(const Measurements&)>& tell);

}  // namespace pvrdma::ctl::pmtu
