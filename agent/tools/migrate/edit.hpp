// SPDX-License-Identifier: GPL-2.0-or-later
// Comments lines out and puts them back, text in, text out; and asks a shell whether the result is
// still a script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/handle.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::ctl::migration {

// The whole line can be commented out: it belongs to the recipe, and is not left to a person.
[[nodiscard]] bool is_to_be_moved(const probes::RecipeLine& line);

// Whether the text has those of the lines that can go, at their numbers.
[[nodiscard]] bool still_has(std::string_view text, const std::vector<probes::RecipeLine>& lines);

// The text with those of the lines (in order) that can go commented out: a mark stands before each,
// and the line follows unchanged. In a script, the mark is kMigratedLastMark where the line decides
// an exit status; else kMigratedMark. The text must still have the lines.
[[nodiscard]] std::string comment_out(std::string_view text,
                                      const std::vector<probes::RecipeLine>& lines,
                                      probes::RecipeForm form);

// The text with every marked line as it was before.
[[nodiscard]] std::string put_back(std::string_view text);

// Has `shell`, /bin/sh or /bin/bash of the running system, check the script from its beginning
// without running it (-n), with an empty environment, for ten seconds at most. A shell that the
// script names is never used: it could be any program. An Error has the shell's first complaint, or
// why it could not be asked.
[[nodiscard]] Result<void> check_syntax(const std::string& shell, const Fd& script);

}  // namespace pvrdma::ctl::migration
