// SPDX-License-Identifier: GPL-2.0-or-later
// modprobe.d(5) below a root; and what in it, or on the kernel's command line, keeps a module from
// being loaded or gives a PCI function of an adapter to another driver.
//
// libkmod names no file and no line of its configuration, so the text is cut into lines here, by
// the rules of libkmod. What of a system's own is read in this process; an image's text, which may
// be hostile, in the program module-lookup without rights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

// What keeps modprobe from loading a module: lines about itself, and about modules that it needs.
struct ModuleBlock {
  std::string module;
  // "\"install vmxnet3 /bin/false\" in /etc/modprobe.d/a.conf:3", or "it needs ib_core, kept away
  // by \"install ib_core /bin/true\" in FILE:LINE"; several with "; " between.
  std::string how;
  friend bool operator==(const ModuleBlock&, const ModuleBlock&) = default;
};

// A driver that is to take PCI functions of PVRDMA adapters by their ID, once it is loaded.
struct FunctionClaim {
  std::string driver;  // "vfio-pci"
  std::string ids;     // "15ad:07b0, 15ad:0820": of function 0, of function 1
  std::string how;     // "\"options vfio-pci ids=15ad:07b0\" in FILE:LINE"
  friend bool operator==(const FunctionClaim&, const FunctionClaim&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Whose configuration: all that is there now, or what is still there after a reboot, which /run is
// not.
enum class ModprobeOf { ThisBoot, NextBoot };

struct ModprobeLine {
  std::string keyword;  // "blacklist", "install", "softdep" or "options"
  std::string name;     // of a module, with underscores, or what stands for one: "ib_*"
  std::string rest;     // the command; "pre: a b post: c"; the options; of "blacklist" nothing
  unsigned line = 0;    // its first, counted from 1, in the text that was read
  std::string place{};  // "/etc/modprobe.d/a.conf:3"; empty until the file is known
  friend bool operator==(const ModprobeLine&, const ModprobeLine&) = default;
};

// Of all files together.
inline constexpr std::size_t kModprobeLimitBytes = 1U << 20U;

// What the files say, in libkmod's order. The files are read here and joined, as libkmod would
// follow links of an image to this machine's, and pass over what it may not read.
using ModprobeConfig = Result<std::vector<ModprobeLine>>;
[[nodiscard]] ModprobeConfig read_modprobe_config(const std::string& module_lookup,
                                                  const Root& root, ModprobeOf which);

// The lines of these four keywords, as libkmod reads them (kmod_config_parse(), libkmod-config.c of
// kmod 30): "#" in the first column begins a comment, a backslash at the end of a line joins it
// with the next.
[[nodiscard]] std::vector<ModprobeLine> parse_modprobe(std::string_view text);

// What module-lookup writes: "LINE KEYWORD NAME REST", each on a line. EBADMSG: that is no such
// line.
[[nodiscard]] std::string print_modprobe_lines(const std::vector<ModprobeLine>& lines);
[[nodiscard]] ModprobeConfig parse_modprobe_lines(std::string_view lines);

// The kernel's own, below `root`; empty: there is none.
[[nodiscard]] Result<std::string> command_line_of(const Root& root);

struct WantedModule {
  std::string name;
  std::vector<std::string> needs{};  // the modules that are loaded with it
};

// Of these modules, each at most once: `install` commands that load nothing, and what the command
// line keeps away, for a module and for those that it needs; `blacklist` for the module alone, as
// nothing keeps to it where a module is loaded because another needs it (libkmod's
// kmod_module_probe_insert_module()). Soft dependencies keep nothing away: libkmod goes on without.
[[nodiscard]] Field<std::vector<ModuleBlock>> find_module_blocks(
    const ModprobeConfig& config, const Result<std::string>& command_line,
    const std::vector<WantedModule>& modules);

// Drivers for passing functions through that take function 0 or 1 of PVRDMA adapters by ID.
[[nodiscard]] Field<std::vector<FunctionClaim>> find_function_claims(
    const ModprobeConfig& config, const Result<std::string>& command_line);

}  // namespace pvrdma::probes
