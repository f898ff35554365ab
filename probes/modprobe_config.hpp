// SPDX-License-Identifier: GPL-2.0-or-later
// Reads modprobe.d(5) below a root. Finds lines in it, and words on the kernel's command line, that
// block the load of a module.
//
// libkmod does not tell the file and line of its configuration, so the text is parsed here, by
// libkmod's rules. The text of this system is parsed in this process; that of an image, which may
// be hostile, in the program module-lookup without rights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/model/field.hpp"

namespace pvrdma {

// A block that keeps modprobe from loading a module: lines about the module, and about modules that
// it needs.
struct ModuleBlock {
  std::string module;
  // "\"install vmxnet3 /bin/false\" in /etc/modprobe.d/a.conf:3", or "it needs ib_core, kept away
  // by \"install ib_core /bin/true\" in FILE:LINE"; several are separated by "; ".
  std::string how;
  friend bool operator==(const ModuleBlock&, const ModuleBlock&) = default;
};

}  // namespace pvrdma

namespace pvrdma::probes {

// Which configuration: the present one, or that of the next boot, which is without /run.
enum class ModprobeOf { ThisBoot, NextBoot };

struct ModprobeLine {
  std::string keyword;  // "blacklist", "install", "softdep" or "options"
  std::string name;     // a module's name with underscores, or a pattern: "ib_*"
  std::string rest;     // the command; "pre: a b post: c"; the options; empty for "blacklist"
  unsigned line = 0;    // its first line in the text, counted from 1
  std::string place{};  // "/etc/modprobe.d/a.conf:3"; empty until the file is known
  friend bool operator==(const ModprobeLine&, const ModprobeLine&) = default;
};

// The limit for all files together.
inline constexpr std::size_t kModprobeLimitBytes = 1U << 20U;

// The lines of all files, in libkmod's order. The files are read here, as libkmod would follow
// links in an image to files of this machine, and would ignore files that it may not read.
using ModprobeConfig = Result<std::vector<ModprobeLine>>;
[[nodiscard]] ModprobeConfig read_modprobe_config(const std::string& module_lookup,
                                                  const Root& root, ModprobeOf which);

// The lines of these four keywords, as libkmod reads them (kmod_config_parse(), libkmod-config.c of
// kmod 30): "#" in the first column starts a comment, and a backslash at the end of a line joins it
// with the next.
[[nodiscard]] std::vector<ModprobeLine> parse_modprobe(std::string_view text);

// The output of module-lookup: a line "LINE KEYWORD NAME REST" for each. EBADMSG: a line of another
// form.
[[nodiscard]] std::string print_modprobe_lines(const std::vector<ModprobeLine>& lines);
[[nodiscard]] ModprobeConfig parse_modprobe_lines(std::string_view lines);

// Whether an `install` command runs only the usual commands that do nothing.
[[nodiscard]] bool loads_nothing(std::string_view command);

// The kernel's command line, below `root`; empty: there is none.
[[nodiscard]] Result<std::string> command_line_of(const Root& root);

struct WantedModule {
  std::string name;
  std::vector<std::string> needs{};  // the modules that are loaded with it
};

// The blocks of these modules, at most one entry for each module. `install` commands that load
// nothing, and the kernel's command line, block a module and also those that need it. `blacklist`
// blocks only the module itself, as libkmod ignores it for modules that another one needs
// (kmod_module_probe_insert_module()). Soft dependencies block nothing, as libkmod goes on without
// them.
[[nodiscard]] Field<std::vector<ModuleBlock>> find_module_blocks(
    const ModprobeConfig& config, const Result<std::string>& command_line,
    const std::vector<WantedModule>& modules);

// For a reader: "\"install ib_core /bin/true\" in FILE:LINE", and a word of the kernel's command
// line.
[[nodiscard]] std::string quoted(const ModprobeLine& line);
[[nodiscard]] std::string quoted_word(std::string_view word);

// The words of a command line, without quotes ("vfio-pci.ids=15ad:07b0").
[[nodiscard]] std::vector<std::string> command_line_words(std::string_view command_line);

}  // namespace pvrdma::probes
