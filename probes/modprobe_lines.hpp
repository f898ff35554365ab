// modprobe.d(5), read by libkmod: for the program module-lookup.
#pragma once

#include <string>

#include "agent/base/error.hpp"

namespace pvrdma::probes {

// The lines of parse_modprobe_lines() (modprobe_config.hpp) for a file that is open, with the text
// of all of modprobe.d.
[[nodiscard]] Result<std::string> modprobe_lines(int file);

}  // namespace pvrdma::probes
