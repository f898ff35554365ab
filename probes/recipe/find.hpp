// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the recipe: a site's own commands that load, unload or reload the driver, on this machine
// or in an image. Looks at the files of the table of places (places.hpp), and at the scripts that
// those run. Read-only.
//
// Opens only files that only root can have written: other users could otherwise choose the
// findings, and make root change their files. Scripts are followed one level deep.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "probes/recipe/lines.hpp"
#include "probes/recipe/places.hpp"

namespace pvrdma::probes {

struct RecipeFile {
  std::string path;                // below the root, symbolic links resolved
  std::vector<std::string> names;  // by which it was found: the path, and links to it
  RecipeForm form = RecipeForm::Script;
  // Of several units and files that run it, `by`, `unit` and `when` name one, at boot if possible.
  std::string by;    // the file that runs it; empty: the system runs it
  std::string unit;  // the unit that runs it: "rc-local.service"; empty: none is known
  // All units that run it at boot; of a template, "up@.service", its instances.
  std::vector<std::string> boot_units;
  std::string when;  // for the reader, from RecipePlace
  // Its commands are run: it is executable or enabled, and not a list of modules.
  bool in_effect = false;
  std::vector<RecipeLine> lines;
  std::string shell;          // from RecipeLook
  bool retires_unit = false;  // a unit that does nothing else
  bool by_timer = false;      // a timer starts it some time after the boot
};

// True where the line loads or unloads modules of the recipe at boot, or vmw_pvrdma at any time.
[[nodiscard]] bool is_of_recipe(const RecipeLine& line);

// True where a line of the file loads or unloads vmw_pvrdma when the system boots.
[[nodiscard]] bool touches_driver_at_boot(const RecipeFile& file);

// A file of a place that other users than root can have written. It is not opened.
struct NotOfRoot {
  std::string path;
  std::string by;   // the file that runs it; empty: the system does
  std::string why;  // "belongs to uid 1000 …"
  bool at_boot = false;
};

struct Recipe {
  // Files with a line of the recipe, or with a commented-out line of it and a related line.
  std::vector<RecipeFile> files;
  std::vector<NotOfRoot> not_of_root;
  std::vector<Error> unreadable;
  // Files and directories that were read or missing; a change of one may change the result.
  std::vector<std::string> looked_at;
};

// `pvrdma-agentctl migrate` disables a unit by this drop-in.
inline constexpr const char* kRetiringDropIn = "90-pvrdma-agent-migrated.conf";

// Looks at the places that the agent waits for at boot, then at `others`, which only tools read and
// `migrate` does not edit.
[[nodiscard]] Recipe find_recipe(const Root& root, const RecipeScope& scope,
                                 std::span<const RecipePlace> others = {});

}  // namespace pvrdma::probes
