// Where the field's recipe stands on this machine, or in an image: /etc/rc.local, crontabs, systemd
// units, module lists, and the scripts that these run. Read-only.
#pragma once

#include <string>
#include <vector>

#include "agent/base/file.hpp"
#include "probes/recipe/script.hpp"

namespace pvrdma::probes {

enum class RecipeForm { Script, Crontab, Unit, ModuleList };

struct RecipeFile {
  std::string path;  // below the root, symbolic links resolved
  RecipeForm form = RecipeForm::Script;
  std::string by;        // whose it is: the file that runs it; empty for those the system runs
  std::string unit;      // that runs it at boot: "rc-local.service"; empty: none is known
  bool at_boot = false;  // it is run at every boot: executable, enabled, a user's @reboot
  RecipeReading reading;
};

// What is only read at boot (a list of modules) runs nothing.
[[nodiscard]] inline bool runs_at_boot(const RecipeFile& file) {
  return file.at_boot && file.form != RecipeForm::ModuleList;
}

struct Recipe {
  std::vector<RecipeFile> files;  // only those with lines of the recipe
  std::vector<Error> unreadable;
  // Every file and directory that was looked at, there or not: what a change of would change this.
  std::vector<std::string> looked_at;
};

// A unit with this drop-in is not started: how `pvrdma-agentctl migrate` retires one.
inline constexpr const char* kRetiringDropIn = "90-pvrdma-agent-migrated.conf";

[[nodiscard]] Recipe find_recipe(const Root& root, const RecipeScope& scope);

}  // namespace pvrdma::probes
