// `mmio`: the VM's settings for passed-through GPUs.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/ctl/commands.hpp"

namespace pvrdma::ctl {

struct MmioOptions {
  std::vector<std::string> gpus;  // as gpu::parse_gpus takes them; none: those of this guest
  Root root;
};

// 0: printed; 3: there is nothing to go by, or it is doubtful.
int mmio(const Settings& settings, const Console& console, const MmioOptions& options);

}  // namespace pvrdma::ctl
