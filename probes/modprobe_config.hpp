// modprobe.d(5) below a root, as libkmod reads it, by the program module-lookup; and what in it, or
// on the kernel's command line, keeps modprobe from loading a module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

// What keeps modprobe from loading a module.
struct ModuleBlock {
  std::string module;
  std::string how;  // "blacklist", "install /bin/false", "modprobe.blacklist= on the command line"
  friend bool operator==(const ModuleBlock&, const ModuleBlock&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Whose configuration: all that is there now, or what is still there after a reboot, which /run is
// not.
enum class ModprobeOf { ThisBoot, NextBoot };

struct ModprobeLine {
  std::string keyword;  // "blacklist", "install" or "softdep"
  std::string name;     // of a module, or what stands for one
  std::string rest;     // the command; "pre: a b" and "post: c"; of "blacklist" nothing
  friend bool operator==(const ModprobeLine&, const ModprobeLine&) = default;
};

// What the files say, and this boot's command line, which libkmod counts among them. The files are
// read here and handed on as one, as libkmod would follow links of an image to this machine's, and
// pass over what it may not read.
using ModprobeConfig = Result<std::vector<ModprobeLine>>;
[[nodiscard]] ModprobeConfig read_modprobe_config(const std::string& module_lookup,
                                                  const Root& root, ModprobeOf which);

// What module-lookup writes: "KEYWORD NAME REST", each on a line. EBADMSG: that is no such line.
[[nodiscard]] ModprobeConfig parse_modprobe_lines(std::string_view lines);

// Of `modules`: blacklist lines and install commands that load nothing, in `config`, and the same
// on the kernel's command line below `root`. A blacklist line keeps udev from loading the module,
// not modprobe by its name.
[[nodiscard]] Field<std::vector<ModuleBlock>> find_module_blocks(
    const ModprobeConfig& config, const Root& root, const std::vector<std::string>& modules);

// "modprobe.blacklist=a,b" and "module_blacklist=c" (Linux
// Documentation/admin-guide/kernel-parameters.txt) of a command line.
[[nodiscard]] std::vector<ModuleBlock> blocks_of_command_line(std::string_view command_line);

}  // namespace pvrdma::probes
