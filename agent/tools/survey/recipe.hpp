// SPDX-License-Identifier: GPL-2.0-or-later
// The recipe (probes/recipe/find.hpp) in all places of a machine that may reload the driver: also
// in those that the agent does not wait for, such as hooks of network managers.
#pragma once

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::probes {

[[nodiscard]] Recipe find_whole_recipe(const Root& root, const RecipeScope& scope);

// The files that could not be read, and those that run at boot and were not opened, as they are not
// root's alone.
[[nodiscard]] std::vector<Error> unread_files(const Recipe& recipe);

// The scope for that system. An image has no sysfs, and so no adapters.
[[nodiscard]] RecipeScope recipe_scope(const Root& root, const Config& config);

}  // namespace pvrdma::probes
