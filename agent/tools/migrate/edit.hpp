// SPDX-License-Identifier: GPL-2.0-or-later
// Commenting lines out, and putting them back: text in, text out; and whether a shell takes what
// comes of it for a script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::ctl::moving {

// One that goes as a whole: of the recipe, and not left to a person.
[[nodiscard]] bool is_to_be_moved(const probes::RecipeLine& line);

// The text with those of the lines (in order) that can go commented out: a mark before each, which
// follows as it was. In a script, kMigratedLastMark where the exit status is more than the line's;
// else kMigratedMark.
[[nodiscard]] std::string comment_out(std::string_view text,
                                      const std::vector<probes::RecipeLine>& lines,
                                      probes::RecipeForm form);

// The text with every marked line as it was.
[[nodiscard]] std::string put_back(std::string_view text);

// Has `shell`, /bin/sh or /bin/bash of the running system, read the script from `script`'s
// beginning and not run it (-n), with an empty environment, for ten seconds at most. The shell is
// never one that the script names: that could be anybody's program. An Error has the shell's first
// complaint, or why it could not be asked.
[[nodiscard]] Result<void> check_syntax(const std::string& shell, const Fd& script);

}  // namespace pvrdma::ctl::moving
