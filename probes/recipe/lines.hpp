// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the lines of a file that load, unload or reload the driver, and related lines: in scripts,
// crontabs, units, udev rules and other files with commands. Shell code is not parsed: lines that
// may not be a command of their own are left to a person.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/recipe/command.hpp"

namespace pvrdma::probes {

// The mark before a line that `pvrdma-agentctl migrate` has commented out. The second mark is for
// the last command of a script or of a block, whose exit status is that of the whole: it leaves a
// command that succeeds.
inline constexpr std::string_view kMigratedMark = "#pvrdma-agent# ";
inline constexpr std::string_view kMigratedLastMark = ": #pvrdma-agent# ";

// Which lines of a file are commands.
enum class RecipeForm {
  Script,         // every line
  Crontab,        // the part after the times
  SystemCrontab,  // the part after the times and the user
  Unit,           // Exec…= of a service, also those that run when it is stopped
  ModuleList,     // modules-load.d(5), /etc/modules: names of modules
  UdevRules,      // RUN, PROGRAM and IMPORT; ATTR{driver_override} and similar keys
  Interfaces,     // interfaces(5): the part after pre-up, up, post-up, pre-down, down, post-down
  CloudConfig,    // every line, as a list of YAML or JSON, or as a script
  ModprobeFile,   // modprobe.d(5): install and remove
  Settings,       // the values of `key = value`: what programs are given to run
};

inline constexpr const char* kHarmless = "it is harmless: the agent finds the module loaded";

struct RecipeLine {
  unsigned number = 0;  // from 1
  std::string text;     // as in the file, at most kLongestLine bytes
  LineKind kind = LineKind::Other;
  bool touches_driver = false;  // as in CommandLook
  bool at_boot = true;          // run at boot; otherwise at other times
  // Driver: why the line cannot be commented out; empty: it can. A clause that begins in lower
  // case.
  std::string by_hand;
  bool unloads = false;  // as in CommandLook
};

// A script that a file runs.
struct CalledScript {
  bool at_boot = true;
  std::string by_hand;    // why all its lines need a person; empty: each line decides
  bool by_timer = false;  // systemd-run starts it some time later
};

struct RecipeLook {
  std::vector<RecipeLine> lines;                // none of kind Other, in order
  std::map<std::string, CalledScript> scripts;  // by their absolute paths
  std::string shell;          // of a script: /bin/sh, /bin/bash; empty: another interpreter
  bool nothing_else = false;  // of a unit: all its commands are simple commands of the recipe
  bool by_timer = false;      // systemd-run starts a command of the recipe some time after the boot
};

inline constexpr std::size_t kLongestLine = 4096;  // bytes; a longer line is cut

// Leaves all lines of a script to a person where the lines that go would spoil the others.
// `emptied`: as in ScriptLines.
void leave_whole_script(std::vector<RecipeLine>& lines, unsigned emptied);

[[nodiscard]] RecipeLook look_at(RecipeForm form, std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
