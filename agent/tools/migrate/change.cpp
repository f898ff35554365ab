// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/migrate/change.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "agent/tools/migrate/edit.hpp"
#include "agent/tools/migrate/replace.hpp"
#include "agent/tools/survey/unit_files.hpp"

namespace pvrdma::ctl::migration {

namespace {

using probes::RecipeFile;
using probes::RecipeForm;

constexpr const char* kUnits = "/etc/systemd/system";
constexpr const char* kAgent = "/usr/sbin/pvrdma-agent";
constexpr const char* kDropIn =
    "# Written by `pvrdma-agentctl migrate --apply`: the unit does what pvrdma-agent does now.\n"
    "# `pvrdma-agentctl migrate --revert` removes this file.\n"
    "[Unit]\n"
    "ConditionPathExists=!/usr/sbin/pvrdma-agent\n";

Change failed(std::string path, Error error) { return {std::move(path), {}, {}, std::move(error)}; }

std::string backup_of(const std::string& path) { return kStore + path; }

// Saves the file as it was before it had any mark. The copy of an earlier --apply stays where it
// has the same content.
Result<void> back_up(const Root& root, const std::string& path, const FileState& now) {
  const RootedPath place = root / backup_of(path);
  const std::string original = put_back(now.content);
  if (original != now.content)
    if (const auto earlier = read_state(place); earlier && earlier->content == original) return {};
  // The copy of a file that only root may read must be closed to others as well.
  constexpr mode_t kClosed = 0700;
  if (auto made = make_folders(root / kStore, kClosed); !made) return made;
  if (auto made = make_folders(above(place)); !made) return made;
  return write_file(place, original, now.status.st_mode & 07777U, &now.status.st_mtim);
}

std::optional<Change> comment_out_in(const Root& root, const RecipeFile& file) {
  const auto lines = std::ranges::count_if(file.lines, is_to_be_moved);
  if (lines == 0 || file.form == RecipeForm::Unit) return std::nullopt;
  const RootedPath place = root / file.path;
  const auto state = read_state(place);
  if (!state) return failed(file.path, state.error());
  if (!still_has(state->content, file.lines))
    return failed(file.path,
                  {0, "another program has just changed its lines: run the command again", ""});
  bool refused = false;
  const auto by_shell = [&](const Fd& draft) {
    auto good = check_syntax(file.shell, draft);
    refused = !good && good.error().code == 0;
    return good;
  };
  if (auto saved = back_up(root, file.path, *state); !saved)
    return failed(file.path, saved.error());
  const auto replaced =
      replace_content(place, comment_out(state->content, file.lines, file.form), *state, nullptr,
                      file.form == RecipeForm::Script ? Check{by_shell} : Check{});
  if (!replaced) return Change{file.path, {}, {}, replaced.error(), refused};
  return Change{file.path,
                std::to_string(lines) + (lines == 1 ? " line" : " lines") + " commented out",
                backup_of(file.path)};
}

Change retire(const Root& root, const RecipeFile& file) {
  const std::string path = std::string{kUnits} + "/" + file.unit + ".d/" + probes::kRetiringDropIn;
  const RootedPath place = root / path;
  if (auto made = make_folders(above(place)); !made) return failed(path, made.error());
  if (auto written = write_file(place, kDropIn, 0644, nullptr); !written)
    return failed(path, written.error());
  return {path, file.unit + " is not started any more"};
}

Change put_back_in(const Root& root, const std::string& path) {
  const auto backup = read_state(root / backup_of(path));
  if (!backup) return failed(path, backup.error());
  const auto state = read_state(root / path);
  if (!state && state.error().code == ENOENT)
    return {path, "was removed since, and stays removed", backup_of(path)};
  if (!state) return failed(path, state.error());
  const std::string original = put_back(state->content);
  const bool same = original == backup->content;
  if (original != state->content) {
    const timespec* time = same ? &backup->status.st_mtim : nullptr;
    if (auto replaced = replace_content(root / path, original, *state, time, {}); !replaced)
      return failed(path, replaced.error());
  }
  if (!same)
    return {path, "was changed since: the change stays, only the marked lines are put back",
            backup_of(path)};
  if (auto removed = remove_entry(root / backup_of(path)); !removed)
    return failed(path, removed.error());
  return {path, "restored"};
}

Change reinstate(const Root& root, const std::string& path) {
  const RootedPath place = root / path;
  const auto state = read_state(place);
  if (!state) return failed(path, state.error());
  if (state->content != kDropIn)
    return {path, "was changed since: it stays, and keeps the unit from being started"};
  if (auto removed = remove_entry(place); !removed) return failed(path, removed.error());
  // Removing the folder fails where it has other files.
  static_cast<void>(remove_entry(above(place), AT_REMOVEDIR));
  return {path, "removed"};
}

// Paths of the files that have a backup, in order.
void list_backups(const Root& root, const std::string& folder, std::vector<Change>& changes) {
  const std::string place = backup_of(folder);
  const auto names = list_directory(root / place, kTrustedLinks);
  if (!names && !means_absent(names.error())) changes.push_back(failed(place, names.error()));
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    const std::string path = folder + "/" + name;
    const auto found = status_of(root / backup_of(path), FinalLink::Shown);
    if (found && S_ISDIR(found->st_mode)) {
      list_backups(root, path, changes);
      static_cast<void>(remove_entry(root / backup_of(path), AT_REMOVEDIR));  // fails if not empty
    } else if (found && S_ISREG(found->st_mode)) {
      changes.push_back(put_back_in(root, path));
    }
  }
}

}  // namespace

std::string why_not_to_apply(const Root& root) {
  const auto program = status_of(root / kAgent);
  if (!program || !S_ISREG(program->st_mode))
    return std::string{"there is no "} + kAgent + " in that system";
  // pvrdma-agent.service pulls the socket in, so the socket need not be enabled itself.
  for (const std::string unit : {"pvrdma-agent.service", "pvrdma-agent-executor.socket"}) {
    const auto found = probes::unit_file(root, unit);
    if (const Error* error = found.error()) return error->message();
    if (found.get() == nullptr) return "there is no " + unit + " in that system";
    if (found.get()->masked) return unit + " is masked in that system";
    if (!found.get()->enabled && unit.ends_with(".service"))
      return unit + " is not enabled in that system";
  }
  return {};
}

std::optional<Change> apply(const Root& root, const RecipeFile& file) {
  return file.retires_unit ? retire(root, file) : comment_out_in(root, file);
}

std::vector<Change> revert(const Root& root) {
  std::vector<Change> changes;
  list_backups(root, "", changes);
  // Removing a folder fails where it has other files.
  for (const RootedPath& folder : {root / kStore, above(root / kStore)})
    static_cast<void>(remove_entry(folder, AT_REMOVEDIR));
  for (const std::string& name :
       list_directory(root / kUnits, kTrustedLinks).value_or(std::vector<std::string>{})) {
    const std::string path = std::string{kUnits} + "/" + name + "/" + probes::kRetiringDropIn;
    if (name.ends_with(".service.d") && status_of(root / path, FinalLink::Shown))
      changes.push_back(reinstate(root, path));
  }
  return changes;
}

}  // namespace pvrdma::ctl::migration
