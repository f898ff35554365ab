// Which of the kernel's messages are about RDMA. Pure.
#pragma once

#include <string>
#include <string_view>

namespace pvrdma::ctl::bundle {

// As dmesg writes them, or journalctl's short-iso. Lines that name a driver or subsystem of RDMA or
// the adapter's, and the whole of each oops, BUG, warning or hung task: from its first line to its
// end trace, or a number of lines.
[[nodiscard]] std::string rdma_lines(std::string_view messages);

}  // namespace pvrdma::ctl::bundle
