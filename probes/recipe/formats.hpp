// The recipe in files that are no shell scripts but run shell commands: crontab(5), systemd units,
// and lists of modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/recipe/script.hpp"

namespace pvrdma::probes {

// `@reboot` lines only. `with_user`: a system crontab, whose lines name the user.
[[nodiscard]] RecipeReading read_crontab(std::string_view text, bool with_user,
                                         const RecipeScope& scope);

// ExecStart=, ExecStartPre=, ExecStartPost= of [Service] (systemd.service(5)). Quoting there is
// close enough to a shell's for commands as short as these. A line is left where the unit would be
// without any ExecStart= but has something else to do; `nothing_else`: the unit is for nothing but
// the recipe.
[[nodiscard]] RecipeReading read_unit(std::string_view text, const RecipeScope& scope);

// modules-load.d(5), /etc/modules: always left, as the agent gets along with them.
[[nodiscard]] RecipeReading read_module_list(std::string_view text, const RecipeScope& scope);

}  // namespace pvrdma::probes
