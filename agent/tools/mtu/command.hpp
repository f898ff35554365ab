// SPDX-License-Identifier: GPL-2.0-or-later
// `mtu`: the largest packet that reaches each host in one piece.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MtuOptions {
  std::vector<std::string> hosts;                   // names or addresses
  int family = 0;                                   // AF_UNSPEC, AF_INET or AF_INET6
  Milliseconds timeout = std::chrono::seconds{30};  // for all hosts together
  std::string adapter{};  // PCI address, RDMA device or interface to measure from; empty: any
  unsigned expect = 0;    // bytes that every path is to carry; 0: nothing is expected
  Root root{"/"};
  // Where ping and ip are looked for.
  std::vector<std::string> folders{"/usr/bin", "/bin", "/usr/sbin", "/sbin"};
};

// 0: the MTU to every host was found; 3: not to every one. With an expectation 0: every path
// carries packets of that size; 2: one does not; 3: not known for one path.
int mtu(const Settings& settings, const Console& console, const MtuOptions& options);

}  // namespace pvrdma::ctl
