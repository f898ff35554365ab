// Measures the MTU to several hosts at once: one loop over sockets, name answers and deadlines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/clock.hpp"
#include "agent/base/error.hpp"
#include "agent/tools/mtu/measurement.hpp"

namespace pvrdma::ctl::pmtu {

struct Request {
  std::vector<std::string> hosts;  // names or addresses
  int family = 0;                  // AF_UNSPEC, AF_INET or AF_INET6
  Milliseconds timeout{0};         // for everything together, names included
  std::string interface {};        // the only one to measure from; empty: where the route goes
};

// A measurement for each host, in the order of the request; returns after `timeout` at the latest,
// with what is known by then. What one host suffers is in its own measurement: an Error is one of
// the loop (errno of eventfd(2) or poll(2)). `tell` hears of every step, for a progress display.
[[nodiscard]] Result<std::vector<Measurement>> measure(
    const Request& request, const std::function<void(const std::vector<Measurement>&)>& tell);

}  // namespace pvrdma::ctl::pmtu
