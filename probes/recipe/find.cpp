// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/find.hpp"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kFilesInAll = 4096;
constexpr std::size_t kSizeLimit = 256U << 10U;  // bytes; no boot script of a site is longer
constexpr const char* kOtherCommands = "the unit or a drop-in of it has other commands, too";

// Reads a file of root in a folder of root, in which others may add files but cannot replace any
// (sticky bit).
Result<std::string> read_spooled(const RootedPath& place) {
  const auto parent = open_rooted_parent(place);
  if (!parent) return fail(parent.error());
  struct stat folder {
  }, file{};
  if (::fstat(parent->folder.get(), &folder) != 0) return fail(errno, "looking at", place);
  // Checked before the open, as opening has an effect on some devices.
  if (::fstatat(parent->folder.get(), parent->name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0)
    return fail(errno, "looking at", place);
  if (S_ISCHR(file.st_mode) || S_ISBLK(file.st_mode)) return fail(EINVAL, "opening", place);
  const Fd fd{::openat(parent->folder.get(), parent->name.c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!fd || ::fstat(fd.get(), &file) != 0) return fail(errno, "opening", place);
  const bool of_root = folder.st_uid == 0 && file.st_uid == 0 && S_ISREG(file.st_mode) &&
                       file.st_nlink == 1 && (file.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  const bool kept = (folder.st_mode & S_ISVTX) != 0 || (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (!of_root || !kept)
    return fail(EPERM, "opening", place.string() + ", which not only root can write");
  return read_file(fd, place, kSizeLimit);
}

// "/usr/lib/udev/rules.d/a.rules" -> "udev/rules.d/a.rules"
std::string_view without_folder(std::string_view path) {
  for (const std::string_view folder : kConfigFolders)
    if (path.starts_with(folder)) return path.substr(folder.size());
  return path;
}

std::vector<std::string> unit_folders(bool of_packages) {
  if (!of_packages) return {"/etc/systemd/system", "/usr/local/lib/systemd/system"};
  std::vector<std::string> folders;
  folders.reserve(kConfigFolders.size());
  for (const std::string_view folder : kConfigFolders)
    folders.push_back(std::string{folder} + "systemd/system");
  return folders;
}

// The unit of a unit file or a drop-in: ".../up.service", ".../up.service.d/a.conf".
std::string unit_of(const std::string& path) {
  const std::filesystem::path file{path};
  return (file.extension() == ".conf" ? file.parent_path().stem() : file.filename()).string();
}

class Finder {
 public:
  Finder(const Root& root, const RecipeScope& scope, std::span<const RecipePlace> others)
      : root_(root),
        scope_(scope),
        others_(others),
        starts_(
            root, unit_folders(!others.empty()), [this](const std::string& folder) -> const auto& {
              return names_in(folder);
            }) {}

  Recipe run() {
    for (const RecipePlace& place : boot_places()) look_at_place(place);
    in_others_ = true;
    for (const RecipePlace& place : others_) look_at_place(place);
    recipe_.looked_at.insert(recipe_.looked_at.end(), starts_.looked_at().begin(),
                             starts_.looked_at().end());
    return std::move(recipe_);
  }

 private:
  // How a file was found.
  struct Origin {
    const RecipePlace& place;
    std::string unit;
    bool in_effect = false;
    std::string by{};  // the file that runs it; empty: the system runs it
    CalledScript as{};
    UnitStart start = UnitStart::AtBoot;  // of `unit`
    [[nodiscard]] bool runs_at_boot() const {
      return place.at_boot && as.at_boot && start != UnitStart::ByTimer;
    }
    [[nodiscard]] const char* when() const {
      return start == UnitStart::ByTimer     ? "run by a timer"
             : start == UnitStart::AfterBoot ? "run by a timer after every boot"
                                             : place.when;
    }
  };

  void look_at_place(const RecipePlace& place) {
    const std::string_view pattern = place.pattern;
    if (pattern.starts_with('/')) return expand("", pattern.substr(1), place);
    for (const std::string_view folder : kConfigFolders)
      expand(std::string{folder.substr(0, folder.size() - 1)}, pattern, place);
  }

  void expand(const std::string& folder, std::string_view pattern, const RecipePlace& place) {
    const std::string part{cut(pattern, '/')};
    const bool several = part.find('*') != std::string::npos;
    for (const std::string& name : several ? names_in(folder) : std::vector{part}) {
      if (several && ::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
      if (pattern.empty())
        take_found(folder + "/" + name, place);
      else
        expand(folder + "/" + name, pattern, place);
    }
  }

  const std::vector<std::string>& names_in(const std::string& folder) {
    const auto [at, added] = names_.try_emplace(folder);
    if (!added) return at->second;
    recipe_.looked_at.push_back(folder);
    auto names = list_directory(root_ / folder, kTrustedLinks);
    if (names)
      at->second = std::move(*names);
    else
      note(folder, nullptr, names.error());
    return at->second;
  }

  // Notes why a place was not read. A place where others than root can write is noted only if
  // something exists there.
  void note(const std::string& path, const Origin* origin, const Error& error) {
    if (error.code != EPERM) {
      if (!means_absent(error)) recipe_.unreadable.push_back(error);
      return;
    }
    if (!status_of(root_ / path, FinalLink::Shown)) return;
    constexpr std::string_view kWhich = ", which ";
    const std::size_t which = error.what.rfind(kWhich);
    recipe_.not_of_root.push_back(
        {path, origin == nullptr ? "" : origin->by,
         which == std::string::npos ? error.what : error.what.substr(which + kWhich.size()),
         origin == nullptr || (origin->in_effect && origin->runs_at_boot())});
  }

  void take_found(const std::string& path, const RecipePlace& place) {
    if (!known_.emplace(without_folder(path)).second) return;
    Origin origin{place, place.unit, place.form != RecipeForm::ModuleList};
    if (place.form == RecipeForm::Script) {
      const auto found = status_of(root_ / path);
      origin.in_effect = found && (found->st_mode & S_IXUSR) != 0;
    } else if (place.form == RecipeForm::Unit) {
      origin.unit = unit_of(path);
      origin.start = starts_.of(origin.unit);
      origin.in_effect = origin.start != UnitStart::Never && !is_retired(origin.unit);
    } else if (origin.unit == "cron.service" &&
               status_of(root_ / "/usr/lib/systemd/system/crond.service")) {
      origin.unit = "crond.service";
    }
    RecipeFile* const file = take(path, origin);
    if (file == nullptr || place.form != RecipeForm::Unit) return;
    file->retires_unit = file->retires_unit && !in_others_ && file->path == path &&
                         origin.start != UnitStart::ByTimer && path.ends_with("/" + file->unit) &&
                         !starts_.has_drop_ins(file->unit, kRetiringDropIn);
    for (RecipeLine& line : file->lines)
      if (!file->retires_unit && line.by_hand.empty()) line.by_hand = kOtherCommands;
  }

  // The text of a regular file that only root can have written; none: there is no such text.
  std::optional<std::string> text_of(const std::string& path, RecipeForm form,
                                     const Origin& origin) {
    // A crontab is in cron's spool, where the folder's group may add files.
    auto text = form == RecipeForm::Crontab ? read_spooled(root_ / path)
                                            : read_file(root_ / path, kSizeLimit, kTrustedLinks);
    if (text && text->find('\0') == std::string::npos) return std::move(*text);
    if (text) return std::nullopt;
    const int code = text.error().code;
    // A folder, a device, or a large program is not a script, nor is a socket, which may be closed
    // to this user.
    const auto status = status_of(root_ / path);
    const bool no_script = code == EISDIR || code == EINVAL ||
                           (status && !S_ISREG(status->st_mode)) ||
                           (code == EFBIG && (in_others_ || !origin.by.empty()));
    if (!no_script) note(path, &origin, text.error());
    return std::nullopt;
  }

  // Takes the file and, if the system itself runs it, the scripts that it names. Returns the
  // recipe's part of the file; null: there is none. The pointer is valid until the next file is
  // taken.
  RecipeFile* take(const std::string& called, const Origin& origin) {
    if (seen_.size() >= kFilesInAll) return nullptr;
    const auto resolved = resolve_rooted(root_ / called);
    if (!resolved) {
      recipe_.unreadable.push_back(resolved.error());
      return nullptr;
    }
    const std::string path = resolved->inside();
    for (const std::string& name : std::set<std::string>{called, path})
      recipe_.looked_at.push_back(name);
    if (!seen_.insert(path).second) return nullptr;
    const RecipeForm form = origin.by.empty() ? origin.place.form : RecipeForm::Script;
    const auto text = text_of(path, form, origin);
    if (!text) return nullptr;
    RecipeLook found = look_at(form, *text, scope_);
    for (RecipeLine& line : found.lines) judge(line, form, origin);
    const bool recipe =
        std::any_of(found.lines.begin(), found.lines.end(), [&](const RecipeLine& line) {
          return line.kind == LineKind::Driver && (!in_others_ || line.touches_driver);
        });
    const auto marked = [lines = "\n" + *text](std::string_view mark) {
      return lines.find("\n" + std::string{mark}) != std::string::npos;
    };
    const bool migrated = marked(kMigratedMark) || marked(kMigratedLastMark);
    const std::size_t before = recipe_.files.size();
    const bool kept = recipe || (migrated && !found.lines.empty());
    if (kept)
      recipe_.files.push_back({path, called, form, origin.by, origin.unit, origin.when(),
                               origin.in_effect, std::move(found.lines), found.shell,
                               found.nothing_else, starts_.instances_of(origin.unit)});
    if (origin.by.empty())
      for (auto& [script, as] : found.scripts)
        take(script,
             {origin.place, origin.unit, origin.in_effect, path, std::move(as), origin.start});
    return kept ? &recipe_.files[before] : nullptr;
  }

  // Applies what the place of the line says about it, besides its words.
  void judge(RecipeLine& line, RecipeForm form, const Origin& origin) const {
    line.at_boot = line.at_boot && origin.runs_at_boot();
    if (line.kind != LineKind::Driver || form == RecipeForm::ModuleList) return;
    if (!line.at_boot && !line.touches_driver) line.by_hand = kHarmless;
    std::string why = origin.as.by_hand;
    if (why.empty() && origin.start == UnitStart::ByTimer)
      why = "a timer starts it again and again: a loop";
    // A script that root's crontab runs may still be edited.
    if (why.empty() && (in_others_ || origin.by.empty())) why = origin.place.by_hand;
    if (why.empty() || line.by_hand == kHarmless) return;
    const bool told = line.by_hand.empty() || line.by_hand == kDoesMore;
    line.by_hand = why + (told ? "" : "; " + line.by_hand);
  }

  [[nodiscard]] bool is_retired(const std::string& unit) const {
    return status_of(root_ / ("/etc/systemd/system/" + unit + ".d/" + kRetiringDropIn)).has_value();
  }

  const Root& root_;
  const RecipeScope& scope_;
  std::span<const RecipePlace> others_;
  bool in_others_ = false;  // in these now
  Recipe recipe_;
  std::set<std::string> seen_;   // paths that were read
  std::set<std::string> known_;  // names that hide others, without_folder()
  UnitStarts starts_;
  std::map<std::string, std::vector<std::string>> names_;  // of folders
};

}  // namespace

bool is_of_recipe(const RecipeLine& line) {
  return line.kind == LineKind::Driver && (line.at_boot || line.touches_driver);
}

bool touches_driver_at_boot(const RecipeFile& file) {
  return file.in_effect && std::any_of(file.lines.begin(), file.lines.end(), [](const auto& line) {
           return line.at_boot && line.touches_driver;
         });
}

Recipe find_recipe(const Root& root, const RecipeScope& scope,
                   std::span<const RecipePlace> others) {
  return Finder{root, scope, others}.run();
}

}  // namespace pvrdma::probes
