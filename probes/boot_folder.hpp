// /boot, where kernels and initramfs images lie.
#pragma once

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::probes {

// Opened with O_PATH. ENXIO: an automount point that nobody has used yet; a look
// does not mount it, as that would keep it mounted for ever.
[[nodiscard]] Result<Fd> open_boot_folder(const Root& root);

}  // namespace pvrdma::probes
