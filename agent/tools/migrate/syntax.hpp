// Whether a shell takes a script for one of its own.
#pragma once

#include <string>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"

namespace pvrdma::ctl::moving {

// Has `shell`, /bin/sh or /bin/bash of the running system, read the script from `script`'s
// beginning and not run it (-n), with an empty environment, for ten seconds at most. The shell is
// never one that the script names: that could be anybody's program. An Error has the shell's first
// complaint, or why it could not be asked.
[[nodiscard]] Result<void> check_syntax(const std::string& shell, const Fd& script);

}  // namespace pvrdma::ctl::moving
