// SPDX-License-Identifier: GPL-2.0-or-later
// `migrate`: finds the boot scripts that load or reload vmw_pvrdma, shows which of their lines the
// agent replaces, and comments those out. Needs no agent; one that runs is asked to look again.
#include "agent/tools/migrate/command.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "agent/config/config_files.hpp"
#include "agent/ctl/connection.hpp"
#include "agent/ctl/json_text.hpp"
#include "agent/tools/migrate/change.hpp"
#include "agent/tools/migrate/link_settings.hpp"
#include "agent/tools/survey/recipe.hpp"

namespace pvrdma::ctl {

namespace {

using migration::Change;
using probes::Recipe;
using probes::RecipeFile;

constexpr int kExitSome = 1;

std::vector<Change> change(const Root& root, const Recipe& recipe, const MigrateOptions& options) {
  if (options.revert) return migration::revert(root);
  std::vector<Change> changes;
  if (!options.apply) return changes;
  for (const RecipeFile& file : recipe.files) {
    // A file that is not run is shown, but not changed.
    if (!file.in_effect) continue;
    if (auto made = migration::apply(root, file)) changes.push_back(std::move(*made));
  }
  return changes;
}

// An error does not matter: the agent looks by itself within a minute.
void have_agent_look(const Settings& settings) {
  static_cast<void>(call_agent(settings.socket, "Refresh", std::nullopt, settings.answer_within,
                               settings.answer_within));
}

// A person still has to look at this file.
bool is_left(const RecipeFile& file) {
  const bool list = file.form == probes::RecipeForm::ModuleList;
  return (list || file.in_effect) &&
         std::ranges::any_of(file.lines, [&](const probes::RecipeLine& line) {
           if (list) return line.by_hand != probes::kHarmless;
           return line.kind == probes::LineKind::Link || probes::is_of_recipe(line);
         });
}

int exit_code_for(const std::vector<Change>& changes, const Recipe& now) {
  int code = 0;
  for (const Change& one : changes)
    if (one.failed() && !one.by_hand)
      code = std::max(
          code, one.error.code == EACCES || one.error.code == EPERM ? kExitUnknown : kExitFailed);
  if (code != 0) return code;
  if (std::ranges::any_of(now.files, is_left) ||
      std::ranges::any_of(now.not_of_root, &probes::NotOfRoot::at_boot))
    return kExitSome;
  return now.unreadable.empty() ? 0 : kExitUnknown;
}

}  // namespace

int migrate(const Settings& settings, const Console& console, const MigrateOptions& options) {
  const Root root{options.root};
  // Where the configuration is invalid, lines of the default modules are shown.
  const LoadedConfig loaded = load_config_or_safe(root);
  if (options.apply && !loaded.error.empty())
    return end_without(settings, console, "nothing was changed: " + printable(loaded.error));
  if (const std::string why = options.apply ? migration::why_not_to_apply(root) : ""; !why.empty())
    return end_without(
        settings, console,
        "nothing was changed, as nothing would load vmw_pvrdma then: " + printable(why));
  const auto scope = probes::recipe_scope(root, loaded.config);
  const auto look = [&] {
    Recipe found = probes::find_whole_recipe(root, scope);
    // What --revert restores does not depend on the configuration.
    if (!loaded.error.empty() && !options.revert) found.unreadable.push_back({0, loaded.error, ""});
    return found;
  };
  const Recipe recipe = look();
  const auto links = migration::find_link_settings(root, recipe, scope, loaded.config);
  const std::vector<Change> changes = change(root, recipe, options);
  if (!changes.empty() && options.root == "/") have_agent_look(settings);
  int code = exit_code_for(changes, changes.empty() ? recipe : look());
  // After --revert the recipe is back, as the user asked: that is a success.
  if (options.revert && code == kExitSome) code = 0;

  std::string text;
  if (settings.json) {
    text = dumped(migration::to_json(recipe, links, changes)) + "\n";
  } else {
    const auto add = [&](const std::string& part) {
      text += (text.empty() || part.empty() ? "" : "\n") + part;
    };
    if (!options.revert) {
      add(migration::render_recipe(recipe, console.style()));
      add(migration::render_links(links, console.style()));
    }
    add(migration::render_changes(changes));
    for (const Error& error : recipe.unreadable)
      console.complain("not all could be looked at: " + printable(error.message()));
    for (const std::string& line : migration::failures(changes)) console.complain(line);
  }
  if (text.empty())
    text = options.revert ? "nothing was moved\n"
                          : "nothing loads or reloads vmw_pvrdma beside the agent\n";
  return console.print(text) ? code : kExitUnknown;
}

}  // namespace pvrdma::ctl
