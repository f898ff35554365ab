// modprobe.d(5) below a root, as libkmod reads it.
#pragma once

#include <libkmod.h>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::probes {

// Whose configuration: all that is there now, or what is still there after a reboot, which /run is
// not.
enum class ModprobeOf { ThisBoot, NextBoot };

// A context that holds what the files say. They are read here and handed to libkmod as one, as it
// would follow links of an image to this machine's, and pass over what it may not read.
[[nodiscard]] Result<Handle<kmod_ctx, kmod_unref>> open_modprobe_config(const Root& root,
                                                                        ModprobeOf which);

}  // namespace pvrdma::probes
