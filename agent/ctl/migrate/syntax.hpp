// Whether a shell takes a script for one of its own.
#pragma once

#include <filesystem>
#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::ctl::moving {

// Runs `INTERPRETER -n SCRIPT`, which reads and does not run it, for ten seconds at most. An Error
// has the shell's first complaint, or why it could not be asked.
[[nodiscard]] Result<void> check_syntax(const std::string& interpreter,
                                        const std::filesystem::path& script);

}  // namespace pvrdma::ctl::moving
