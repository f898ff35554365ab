// SPDX-License-Identifier: GPL-2.0-or-later
// A look at the surroundings in which applications use an adapter: what `doctor` has beside a
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

// The nodes of /dev/infiniband. Absent: no such folder.
[[nodiscard]] Field<std::vector<DeviceNode>> device_nodes(const Root& root);

// kernel_crash.cpp

// The first crash in records of /dev/kmsg (Linux Documentation/ABI/testing/dev-kmsg), one with
// "[vmw_pvrdma]" in its call trace before any other. Absent: there is none. What names a process
// with its PID is passed over: it may say whatever the process likes.
[[nodiscard]] Field<KernelCrash> parse_kernel_log(std::string_view records);

// Whether the kernel has crashed in this boot without going down, and whether vmw_pvrdma was at it.
// Only where the taint flags D or L (Documentation/admin-guide/tainted-kernels.rst) say so, unlike
// the log, into which anybody can have lines written: then by /dev/kmsg, which only root may read
// where kernel.dmesg_restrict is set; else, and where the log has already lost it, by the flag D.
[[nodiscard]] Field<KernelCrash> look_for_kernel_crash(const Root& root);

// The records of /dev/kmsg that are there now. EPERM: only root may read them.
[[nodiscard]] Result<std::string> read_kernel_log(const Root& root);

// driver_complaints.cpp

// Why vmw_pvrdma was not loaded, or gave up a function, by records of /dev/kmsg: for each function
// the last probe's reason, and the last of the module.
[[nodiscard]] std::vector<DriverComplaint> parse_driver_complaints(std::string_view records);

// verbs_libraries.cpp

// The largest N of "IBVERBS_PRIVATE_N" in a library's content: the symbol version that its
// providers are linked against. Absent: there is none.
[[nodiscard]] Field<unsigned> private_abi_in(std::string_view library);

// N of "libvmw_pvrdma-rdmavN.so"; absent: another name.
[[nodiscard]] Field<unsigned> private_abi_of_provider(std::string_view file_name);

// In the order of the dynamic linker (ld.so(8)): `library_path` (LD_LIBRARY_PATH), the folders of
// /etc/ld.so.conf and what it includes, its own.
[[nodiscard]] Field<Libraries> look_at_verbs_libraries(const Root& root,
                                                       std::string_view library_path);

}  // namespace pvrdma::probes
