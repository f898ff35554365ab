#include "agent/ctl/migrate/change.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "agent/base/handle.hpp"
#include "agent/ctl/migrate/edit.hpp"
#include "agent/ctl/migrate/replace.hpp"
#include "agent/ctl/migrate/syntax.hpp"
#include "probes/recipe/below.hpp"

namespace pvrdma::ctl::moving {

namespace {

namespace fs = std::filesystem;
using probes::RecipeFile;
using probes::RecipeForm;

constexpr const char* kUnits = "/etc/systemd/system";
constexpr const char* kDropIn =
    "# Written by `pvrdma-agentctl migrate --apply`: the unit does what pvrdma-agent does now.\n"
    "# `pvrdma-agentctl migrate --revert` removes this file.\n"
    "[Unit]\n"
    "ConditionPathExists=!/usr/sbin/pvrdma-agent\n";

Change failed(std::string path, Error error) { return {std::move(path), {}, {}, std::move(error)}; }

std::string backup_of(const std::string& path) { return kStore + path; }

// Open to all to look into, whatever the umask: others keep their files in some of them.
Result<void> make_directories(const fs::path& directory) {
  std::error_code code;
  std::vector<fs::path> missing;
  for (fs::path above = directory; above.has_relative_path() && !fs::exists(above, code);
       above = above.parent_path())
    missing.push_back(above);
  fs::create_directories(directory, code);
  if (code) return fail(code.value(), "creating", directory);
  constexpr fs::perms kOpen{0755};
  for (const fs::path& made : missing)
    if (fs::permissions(made, kOpen, code); code)
      return fail(code.value(), "opening to others", made);
  return {};
}

// A copy of what the file was, before it had any mark. That of an earlier --apply stays where it
// still holds.
Result<void> back_up(const Root& root, const std::string& path, const FileState& now) {
  const auto place = root / backup_of(path);
  const std::string original = put_back(now.content);
  const bool marked = original != now.content;
  if (marked && read_file(place).value_or("") == original) return {};
  if (auto made = make_directories(place.parent_path()); !made) return made;
  // What root alone may read is root's alone here, too.
  std::error_code code;
  fs::permissions(root / kStore, fs::perms::owner_all, code);
  if (code) return fail(code.value(), "closing to others", root / kStore);
  if (auto written = replace_file(place, original, now.status.st_mode & 07777U); !written)
    return written;
  const timespec times[] = {{0, UTIME_OMIT}, now.status.st_mtim};
  if (::utimensat(AT_FDCWD, place.c_str(), times, 0) != 0)
    return fail(errno, "giving its time to", place);
  const Fd copy{::open(place.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!copy || ::fsync(copy.get()) != 0) return fail(errno, "syncing", place);
  return {};
}

std::size_t count_marked(const RecipeFile& file) {
  std::size_t lines = 0;
  for (const probes::RecipeLines& one : file.reading.lines)
    if (one.left.empty()) lines += one.last - one.first + 1;
  return lines;
}

std::vector<Change> comment_out_in(const Root& root, const RecipeFile& file) {
  const std::size_t lines = count_marked(file);
  if (lines == 0) return {};
  const auto path = root / file.path;
  const auto state = read_state(path);
  if (!state) return {failed(file.path, state.error())};
  if (auto saved = back_up(root, file.path, *state); !saved)
    return {failed(file.path, saved.error())};
  const Check check = [&](const fs::path& draft) {
    return file.form == RecipeForm::Script ? check_syntax(file.reading.interpreter, draft)
                                           : Result<void>{};
  };
  const auto replaced = replace_content(path, comment_out(state->content, file.reading.lines),
                                        state->status, nullptr, check);
  if (!replaced) return {failed(file.path, replaced.error())};
  return {{file.path,
           std::to_string(lines) + (lines == 1 ? " line" : " lines") + " commented out",
           backup_of(file.path),
           {}}};
}

std::vector<Change> retire(const Root& root, const RecipeFile& file) {
  const std::string path = std::string{kUnits} + "/" + file.unit + ".d/" + probes::kRetiringDropIn;
  const auto place = root / path;
  std::error_code error;
  if (fs::exists(place, error)) return {};
  if (auto made = make_directories(place.parent_path()); !made) return {failed(path, made.error())};
  if (auto written = replace_file(place, kDropIn); !written) return {failed(path, written.error())};
  return {{path, file.unit + " is not started any more", {}, {}}};
}

Change put_back_in(const Root& root, const std::string& path) {
  const auto backup = read_state(root / backup_of(path));
  if (!backup) return failed(path, backup.error());
  const auto state = read_state(root / path);
  if (!state) return failed(path, state.error());
  const std::string original = put_back(state->content);
  const bool same = original == backup->content;
  if (original != state->content) {
    const timespec* time = same ? &backup->status.st_mtim : nullptr;
    if (auto replaced = replace_content(root / path, original, state->status, time, {}); !replaced)
      return failed(path, replaced.error());
  }
  if (!same)
    return {path,
            "was changed since: that stays, only the marked lines are put back",
            backup_of(path),
            {}};
  if (::unlink((root / backup_of(path)).c_str()) != 0)
    return failed(path, {errno, "removing", backup_of(path)});
  return {path, "as it was", {}, {}};
}

Change reinstate(const Root& root, const std::string& path) {
  const auto place = root / path;
  const auto content = read_file(place);
  if (!content) return failed(path, content.error());
  if (*content != kDropIn)
    return {path, "was changed since: it stays, and keeps the unit from being started", {}, {}};
  if (::unlink(place.c_str()) != 0) return failed(path, {errno, "removing", path});
  ::rmdir(place.parent_path().c_str());  // where nothing else is in it
  return {path, "removed", {}, {}};
}

// Paths of the files that have a backup, in order. Empty directories of the store are removed.
std::vector<std::string> backed_up(const Root& root) {
  std::vector<std::string> paths;
  const auto store = root / kStore;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(store, error);
       !error && at != fs::recursive_directory_iterator{}; at.increment(error))
    if (at->is_regular_file(error))
      paths.push_back("/" + at->path().lexically_relative(store).string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void remove_empty(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> inner;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.is_directory(error)) inner.push_back(entry.path());
  for (const fs::path& one : inner) remove_empty(one);
  ::rmdir(directory.c_str());
}

}  // namespace

bool is_to_be_retired(const RecipeFile& file) {
  return file.form == RecipeForm::Unit && file.reading.nothing_else &&
         file.path.ends_with(file.unit);
}

std::vector<Change> apply(const Root& root, const RecipeFile& file) {
  return is_to_be_retired(file) ? retire(root, file) : comment_out_in(root, file);
}

std::vector<Change> revert(const Root& root) {
  std::vector<Change> changes;
  for (const std::string& path : backed_up(root)) changes.push_back(put_back_in(root, path));
  remove_empty(root / kStore);
  ::rmdir((root / kStore).parent_path().c_str());  // where nothing else is in it
  for (const std::string& name :
       list_directory(root / kUnits).value_or(std::vector<std::string>{})) {
    const std::string path = std::string{kUnits} + "/" + name + "/" + probes::kRetiringDropIn;
    std::error_code error;
    if (name.ends_with(".service.d") && fs::exists(root / path, error))
      changes.push_back(reinstate(root, path));
  }
  return changes;
}

}  // namespace pvrdma::ctl::moving
