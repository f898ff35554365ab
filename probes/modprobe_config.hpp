// modprobe.d(5) below a root, as libkmod reads it.
#pragma once

#include <libkmod.h>

#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::probes {

// Whose configuration: all that is there now, or what is still there after a reboot, which /run is
// not.
enum class ModprobeOf { ThisBoot, NextBoot };

// libkmod's own list (kmod.h, kmod_new()) below `root`, in its order: a file of an earlier folder
// replaces one of its name.
[[nodiscard]] std::vector<std::string> modprobe_folders(const Root& root, ModprobeOf which);

// A context that holds what these folders say; to libkmod an absent one, or one that may not be
// read, is none. ENOMEM: there is no context.
[[nodiscard]] Result<Handle<kmod_ctx, kmod_unref>> open_modprobe_config(const Root& root,
                                                                        ModprobeOf which);

}  // namespace pvrdma::probes
