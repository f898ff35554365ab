// What keeps modprobe from loading a module: modprobe.d(5) and the kernel's command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/field.hpp"
#include "probes/modprobe_config.hpp"

namespace pvrdma {

// What keeps modprobe from loading a module.
struct ModuleBlock {
  std::string module;
  std::string how;  // "blacklist", "install /bin/false", "modprobe.blacklist= on the command line"
  friend bool operator==(const ModuleBlock&, const ModuleBlock&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Of `modules`: blacklist lines and install commands that load nothing, in `config`, and the same
// on the kernel's command line below `root`. A blacklist line keeps udev from loading the module,
// not modprobe by its name.
[[nodiscard]] Field<std::vector<ModuleBlock>> find_module_blocks(
    const ModprobeConfig& config, const Root& root, const std::vector<std::string>& modules);

// "modprobe.blacklist=a,b" and "module_blacklist=c" (Linux
// Documentation/admin-guide/kernel-parameters.txt) of a command line.
[[nodiscard]] std::vector<ModuleBlock> blocks_of_command_line(std::string_view command_line);

}  // namespace pvrdma::probes
