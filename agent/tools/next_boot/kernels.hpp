// Which kernels are installed, and which of them the next boot takes.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/tools/next_boot/forecast.hpp"

namespace pvrdma::probes {

// Of the folders of /lib/modules with a module index, by release: those with an image, as others
// are what was left over; and `running` (empty: none), wherever it was booted from. What they hold
// is not looked at.
[[nodiscard]] Result<std::vector<KernelForecast>> installed_kernels(const Root& root,
                                                                    const std::string& running);

// By GRUB's configuration; where there is none by the link that the distribution keeps; or because
// there is one only. Absent: these do not tell. Unreadable: they may not be read.
[[nodiscard]] Field<NextKernel> next_kernel(const Root& root,
                                            const std::vector<KernelForecast>& installed);

}  // namespace pvrdma::probes
