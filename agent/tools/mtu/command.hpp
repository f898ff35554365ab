// `mtu`: the largest packet that reaches each host in one piece.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MtuOptions {
  std::vector<std::string> hosts;                   // names or addresses
  int family = 0;                                   // AF_UNSPEC, AF_INET or AF_INET6
  Milliseconds timeout = std::chrono::seconds{30};  // for all hosts together
};

// 0: the MTU to every host was found; 3: not to every one.
int mtu(const Settings& settings, const Console& console, const MtuOptions& options);

}  // namespace pvrdma::ctl
