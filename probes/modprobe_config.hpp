// modprobe.d(5) below a root, as libkmod reads it: by the program module-lookup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"

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

}  // namespace pvrdma::probes
