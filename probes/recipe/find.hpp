// SPDX-License-Identifier: GPL-2.0-or-later
// Where commands load or reload the driver on this machine, or in an image: what the table of
// places names (places.hpp), and the scripts that are run from there. Read-only.
//
// Only what root alone can have written is opened, as others could choose what is found in it, and
// let root change it. A script is followed one step, and no further.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "agent/model/config.hpp"
#include "probes/recipe/lines.hpp"

namespace pvrdma::probes {

struct RecipeFile {
  std::string path;    // below the root, symbolic links resolved
  std::string called;  // the name by which it was found; most often the same
  RecipeForm form = RecipeForm::Script;
  std::string by;          // the file that runs it; empty for those the system runs
  std::string unit;        // that runs it at boot: "rc-local.service"; empty: none is known
  std::string when;        // for the reader, as of Place
  bool in_effect = false;  // it runs commands as it is: executable, enabled; no list of modules
  std::vector<RecipeLine> lines;
  std::string shell;          // as of RecipeLook
  bool retires_unit = false;  // a unit that is for nothing else
};

// A line of it loads or unloads vmw_pvrdma when the system boots.
[[nodiscard]] bool touches_driver_at_boot(const RecipeFile& file);

// A file that would be looked at, but that others than root can have written, too. Not opened.
struct NotOfRoot {
  std::string path;
  std::string by;   // the file that runs it; empty: the system does
  std::string why;  // "belongs to uid 1000 …"
  bool at_boot = false;
};

struct Recipe {
  // Those with a line of the recipe, or with one beside it and one that was commented out.
  std::vector<RecipeFile> files;
  std::vector<NotOfRoot> not_of_root;
  std::vector<Error> unreadable;
  // Files and directories that were looked at, there or not: what a change of would change this.
  std::vector<std::string> looked_at;
};

// A unit with this drop-in is not started: how `pvrdma-agentctl migrate` retires one.
inline constexpr const char* kRetiringDropIn = "90-pvrdma-agent-migrated.conf";

enum class Places {
  OfBoot,  // what the agent waits for at boot
  All,
};
[[nodiscard]] Recipe find_recipe(const Root& root, const RecipeScope& scope,
                                 Places places = Places::OfBoot);

// What belongs to the agent on that system. An image has no sysfs, and so no adapters.
[[nodiscard]] RecipeScope recipe_scope(const Root& root, const Config& config);

}  // namespace pvrdma::probes
