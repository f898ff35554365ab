// The lines of a script, crontab, unit or list of modules that load or reload the driver, and those
// that belong to it. Each line is looked at by itself; what may not be one is left to a person.
#pragma once

#include <set>
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

struct RecipeLine {
  unsigned number = 0;  // from 1
  std::string text;     // as written, of at most kLongestLine bytes
  LineKind kind = LineKind::Other;
  bool touches_driver = false;  // as of CommandLook
  // Driver: why it cannot be commented out; empty: it can. A sentence's beginning in lower case.
  std::string by_hand;
};

struct RecipeLook {
  std::vector<RecipeLine> lines;  // none of kind Other
  std::set<std::string> scripts;  // absolute paths of what is run
  std::string shell;              // of a script: /bin/sh or /bin/bash; empty: another
  // Of a unit: all of its commands are simple ones of the recipe.
  bool nothing_else = false;
};

inline constexpr std::size_t kLongestLine = 4096;  // bytes; of a longer one the beginning counts

[[nodiscard]] RecipeLook look_at_script(std::string_view text, const RecipeScope& scope);

// Lines of @reboot only. `with_user`: a system crontab, whose lines name the user.
[[nodiscard]] RecipeLook look_at_crontab(std::string_view text, bool with_user,
                                         const RecipeScope& scope);

// ExecStart=, ExecStartPre= and ExecStartPost= of a service. A unit is not edited, so its lines are
// all to be changed by hand but where it is for nothing else.
[[nodiscard]] RecipeLook look_at_unit(std::string_view text, const RecipeScope& scope);

// modules-load.d(5), /etc/modules: always left, as the agent gets along with them.
[[nodiscard]] RecipeLook look_at_module_list(std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
