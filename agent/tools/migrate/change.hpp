// SPDX-License-Identifier: GPL-2.0-or-later
// The changes that `migrate` makes, each to one file: comment the recipe out, retire a unit, put
// back.
//
// Backups are below kStore, under the path of the original, with its mode and times. A unit that
// contains only the recipe is not edited: a drop-in keeps systemd from starting it while the agent
// is installed. The unit's file, its enablement and the units ordered after it stay as they are.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/error.hpp"
#include "agent/base/file.hpp"
#include "agent/ctl/text.hpp"
#include "agent/tools/migrate/link_settings.hpp"
#include "probes/recipe/find.hpp"

namespace pvrdma::ctl::migration {

inline constexpr const char* kStore = "/var/lib/pvrdma-agent/migrated";

// One change, made or failed.
struct Change {
  std::string path;      // what was changed
  std::string what{};    // "6 lines commented out"
  std::string backup{};  // empty: none was needed
  Error error{};         // `doing` is empty where the change was made
  bool by_hand = false;  // the shell rejects the result, so a person has to make the change
  [[nodiscard]] bool failed() const { return !error.doing.empty(); }
};

// The reason why the recipe has to stay: no agent would do its work in that system. Empty: there is
// none.
[[nodiscard]] std::string why_not_to_apply(const Root& root);

// None: no line of the file can be commented out.
[[nodiscard]] std::optional<Change> apply(const Root& root, const probes::RecipeFile& file);

// Undoes all that apply() has done. In a file that was changed since, only the marked lines are put
// back, and `what` says so.
[[nodiscard]] std::vector<Change> revert(const Root& root);

// The findings and changes of `migrate`, as JSON and as text for an administrator. Pure.

using Json = nlohmann::json;

[[nodiscard]] Json to_json(const probes::Recipe& recipe, const std::vector<LinkSettings>& links,
                           const std::vector<Change>& changes);
// The files with their lines: which lines go, which are left to a person, and why.
[[nodiscard]] std::string render_recipe(const probes::Recipe& recipe, const Style& style);
// The configuration tables that replace the lines that set links.
[[nodiscard]] std::string render_links(const std::vector<LinkSettings>& links, const Style& style);
// A line for each change that was made, or that a person has to make; failures() has the others.
[[nodiscard]] std::string render_changes(const std::vector<Change>& changes);
[[nodiscard]] std::vector<std::string> failures(const std::vector<Change>& changes);

}  // namespace pvrdma::ctl::migration
