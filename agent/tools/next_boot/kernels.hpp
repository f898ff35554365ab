// Which kernels are installed, and which of them the next boot takes.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/tools/next_boot/forecast.hpp"

namespace pvrdma::probes {

struct InstalledKernel {
  std::string release;
  // "/boot/vmlinuz-…", or in the modules' folder, or as kernel-install(8) has it. Absent: none was
  // found. Unreadable: /boot, or where it may be, was not to be looked into.
  Field<std::string> image;
  friend bool operator==(const InstalledKernel&, const InstalledKernel&) = default;
};

// Of the folders of /lib/modules with a module index, by release: those with an image, as others
// are what was left over; and `running` (empty: none), wherever it was booted from.
[[nodiscard]] Result<std::vector<InstalledKernel>> installed_kernels(const Root& root,
                                                                     const std::string& running);

// By GRUB's configuration; where there is none by the link that the distribution keeps; or because
// there is one only. Absent: these do not tell. Unreadable: they may not be read.
[[nodiscard]] Field<NextKernel> next_kernel(const Root& root,
                                            const std::vector<InstalledKernel>& installed);

}  // namespace pvrdma::probes
