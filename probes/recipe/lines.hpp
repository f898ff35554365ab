// SPDX-License-Identifier: GPL-2.0-or-later
// The lines of a file that load, unload or reload the driver, and those that belong to it: one look
// by line for scripts, crontabs, units, rules of udev and all else that has commands in it. No
// shell is parsed: what may not be a line of its own is left to a person.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probes/recipe/command.hpp"

namespace pvrdma::probes {

// What stands before a line that `pvrdma-agentctl migrate` has commented out. The second is for the
// last command of a script or of a block, whose exit status is that of the whole: it leaves a
// command there that succeeds.
inline constexpr std::string_view kMigratedMark = "#pvrdma-agent# ";
inline constexpr std::string_view kMigratedLastMark = ": #pvrdma-agent# ";

// Which lines of a file are commands.
enum class RecipeForm {
  Script,         // all
  Crontab,        // what follows the time table
  SystemCrontab,  // the same with the user between them
  Unit,           // Exec…= of a service, also of what it runs when it is stopped
  ModuleList,     // modules-load.d(5), /etc/modules: names of modules
  UdevRules,      // RUN, PROGRAM and IMPORT; ATTR{driver_override} and its like
  Interfaces,     // interfaces(5): what follows pre-up, up, post-up, pre-down, down, post-down
  CloudConfig,    // all, as lists of YAML or of JSON, or as a script
  ModprobeFile,   // modprobe.d(5): install and remove
};

inline constexpr const char* kHarmless = "it is harmless: the agent finds the module loaded";

struct RecipeLine {
  unsigned number = 0;  // from 1
  std::string text;     // as written, of at most kLongestLine bytes
  LineKind kind = LineKind::Other;
  bool touches_driver = false;  // as of CommandLook
  bool at_boot = true;          // it is run at boot; else at other times
  // Driver: why it cannot be commented out; empty: it can. A sentence's beginning in lower case.
  std::string by_hand;
};

// A script that a file runs.
struct CalledScript {
  bool at_boot = true;
  std::string by_hand;  // why its lines are a person's, whatever they are; empty: they tell
};

struct RecipeLook {
  std::vector<RecipeLine> lines;                // none of kind Other, in order
  std::map<std::string, CalledScript> scripts;  // by their absolute paths
  std::string shell;                            // of a script: /bin/sh, /bin/bash; empty: another
  bool nothing_else = false;  // of a unit: all of its commands are simple ones of the recipe
};

inline constexpr std::size_t kLongestLine = 4096;  // bytes; of a longer one the beginning counts

[[nodiscard]] RecipeLook look_at(RecipeForm form, std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
