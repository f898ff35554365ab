// Whether the kernel has crashed in this boot without going down, and whether vmw_pvrdma was at it.
#pragma once

#include <string_view>

#include "agent/base/file.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::probes {

// The first crash in records of /dev/kmsg (Linux Documentation/ABI/testing/dev-kmsg), one with
// "[vmw_pvrdma]" in its call trace before any other. Absent: there is none.
[[nodiscard]] Field<KernelCrash> parse_kernel_log(std::string_view records);

// By /dev/kmsg, which only root may read where kernel.dmesg_restrict is set; else, and where the
// log has already lost it, by the taint flag D (Documentation/admin-guide/tainted-kernels.rst).
[[nodiscard]] Field<KernelCrash> look_for_kernel_crash(const Root& root);

}  // namespace pvrdma::probes
