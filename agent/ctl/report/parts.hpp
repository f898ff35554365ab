// The table of what a report holds.
#pragma once

#include <string>
#include <vector>

#include "agent/ctl/report/part.hpp"

namespace pvrdma::ctl::bundle {

// `self`: this program's path; `socket`: the agent's; `devices`: the RDMA devices, by name.
[[nodiscard]] std::vector<Part> parts(const std::string& self, const std::string& socket,
                                      const std::vector<std::string>& devices);

}  // namespace pvrdma::ctl::bundle
