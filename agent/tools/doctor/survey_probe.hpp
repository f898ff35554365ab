// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the surroundings in which applications use an adapter: what `doctor` knows besides a
// Snapshot. Read-only, unprivileged, and without the agent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "agent/tools/doctor/command.hpp"
#include "agent/tools/doctor/survey.hpp"

namespace pvrdma::probes {

[[nodiscard]] Survey survey(const ctl::DoctorOptions& options, const Config& config);

// The nodes of /dev/infiniband. Absent: there is no such folder.
[[nodiscard]] Field<std::vector<DeviceNode>> device_nodes(const Root& root);

// other_subnets.cpp

[[nodiscard]] Field<std::vector<NamedAddress>> interface_addresses();

// kernel_crash.cpp

// The first crash in records of /dev/kmsg (Linux Documentation/ABI/testing/dev-kmsg); a crash with
// "[vmw_pvrdma]" in its call trace comes before any other. Absent: there is none. A line that
// begins with a process's name and PID does not count: the process chooses its name.
[[nodiscard]] Field<KernelCrash> parse_kernel_log(std::string_view records);

// Whether the kernel has survived a crash in this boot, and whether vmw_pvrdma took part. Any
// process can have lines written into the log, so the taint flags D or L
// (Documentation/admin-guide/tainted-kernels.rst) decide whether there was a crash. /dev/kmsg tells
// more; where kernel.dmesg_restrict is set only root may read it. Without it, or where its line is
// gone, flag D alone counts.
[[nodiscard]] Field<KernelCrash> look_for_kernel_crash(const Root& root);

// The records that /dev/kmsg has now. EPERM: only root may read them.
[[nodiscard]] Result<std::string> read_kernel_log(const Root& root);

// driver_complaints.cpp

// Whether a record of /dev/kmsg is the kernel's own, with facility 0; a line that a process has
// written into the log has another.
[[nodiscard]] bool is_kernels(std::string_view record);

// The reasons in records of /dev/kmsg why vmw_pvrdma was not loaded, or why its probe of a function
// failed: the last reason for each function, and the last for the module.
[[nodiscard]] std::vector<DriverComplaint> parse_driver_complaints(std::string_view records);

// verbs_libraries.cpp

// The largest N of "IBVERBS_PRIVATE_N" in a library's content: the symbol version that its
// providers are linked against. Absent: the content has none.
[[nodiscard]] Field<unsigned> private_abi_in(std::string_view library);

// N of "libvmw_pvrdma-rdmavN.so"; absent: the file has another name.
[[nodiscard]] Field<unsigned> private_abi_of_provider(std::string_view file_name);

// Searches in the order of the dynamic linker (ld.so(8)): `library_path` (LD_LIBRARY_PATH), the
// folders of /etc/ld.so.conf and of the files it includes, the linker's own folders.
[[nodiscard]] Field<Libraries> look_at_verbs_libraries(const Root& root,
                                                       std::string_view library_path);

}  // namespace pvrdma::probes
