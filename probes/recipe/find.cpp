// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/find.hpp"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "agent/base/handle.hpp"
#include "agent/base/text.hpp"
#include "probes/recipe/origin.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kFilesInAll = 4096;
constexpr std::size_t kSizeLimit = 256U << 10U;  // bytes; no boot script of a site is longer
constexpr const char* kOtherCommands = "the unit or a drop-in of it has other commands, too";
constexpr const char* kBound =
    "another unit is bound to it (BindsTo= or Requisite=) and would not start without it";
constexpr const char* kAtSleepToo =
    "it is run at suspend or shutdown as well, where the driver has to be unloaded, which the "
    "agent does not do: leave it";

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

// "/etc/systemd/system", …; only those of administrators, unless `of_packages`.
std::vector<std::string> unit_folders(bool of_packages) {
  if (!of_packages) return {"/etc/systemd/system", "/usr/local/lib/systemd/system"};
  return in_config_folders("systemd/system");
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
            root, unit_folders(!others.empty()),
            others.empty() ? std::vector<std::string>{} : in_config_folders("udev/rules.d"),
            [this](const std::string& folder) -> const auto& { return names_in(folder); }) {}

  Recipe run() {
    for (const RecipePlace& place : boot_places()) look_at_place(place);
    in_others_ = true;
    for (const RecipePlace& place : others_) look_at_place(place);
    for (Found& file : found_) add(file);
    recipe_.looked_at.insert(recipe_.looked_at.end(), starts_.looked_at().begin(),
                             starts_.looked_at().end());
    return std::move(recipe_);
  }

 private:
  // A file, as all its origins have led to it.
  struct Found {
    std::string path;
    RecipeForm form = RecipeForm::Script;
    Origin origin;                     // the one with the greatest weight
    std::vector<std::string> names{};  // of all origins
    std::vector<std::string> units{};  // of the origins that run it at boot
    RecipeLook look{};
    bool by_timer = false;  // one of the origins that run it at boot is a timer
    bool at_sleep = false;  // one of the origins that run it is at_sleep
    std::string at_stop{};  // why its lines need a person: a unit runs it when it stops
    bool migrated = false;  // a line is marked
    std::optional<Error> error{};
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
    if (!known_.emplace(without_folder(path)).second || is_ignored_by_cron(root_, path)) return;
    Origin origin{path, &place, in_others_, place.unit, place.form != RecipeForm::ModuleList};
    origin.at_sleep = std::string_view{place.when} == kRunAtSleep;
    if (place.form == RecipeForm::Script) {
      const auto found = status_of(root_ / path);
      origin.in_effect = found && (found->st_mode & S_IXUSR) != 0;
    } else if (place.form == RecipeForm::Unit) {
      origin.unit = unit_of(path);
      origin.start = starts_.of(origin.unit);
      origin.at_sleep = starts_.at_sleep(origin.unit);
      origin.in_effect = origin.start != UnitStart::Never && !is_retired(origin.unit);
    } else if (origin.unit == "cron.service" &&
               status_of(root_ / "/usr/lib/systemd/system/crond.service")) {
      origin.unit = "crond.service";
    }
    take(std::move(origin));
  }

  // Reads the file, unless another origin has led to it, and, if the system itself runs it, the
  // scripts that it names.
  void take(Origin origin) {
    if (found_.size() >= kFilesInAll) return;
    const auto resolved = resolve_rooted(root_ / origin.called);
    if (!resolved) return recipe_.unreadable.push_back(resolved.error());
    const auto [at, added] = index_.try_emplace(resolved->inside(), found_.size());
    if (added) found_.push_back(read(at->first, origin));
    Found& file = found_[at->second];
    for (const std::string& name : {origin.called, file.path}) {
      if (contains(file.names, name)) continue;
      recipe_.looked_at.push_back(name);
      file.names.push_back(name);
    }
    file.at_sleep = file.at_sleep || (origin.in_effect && origin.at_sleep);
    if (origin.in_effect && origin.place->form == RecipeForm::Unit && !origin.as.by_hand.empty())
      file.at_stop = origin.as.by_hand;
    if (origin.in_effect && origin.runs_at_boot()) {
      file.by_timer = file.by_timer || origin.start == UnitStart::AfterBoot || origin.as.by_timer ||
                      file.look.by_timer;
      if (!origin.unit.empty() && !contains(file.units, origin.unit))
        file.units.push_back(origin.unit);
    }
    if (origin.by.empty())
      for (const auto& [script, as] : file.look.scripts)
        take({script, origin.place, origin.only_tools, origin.unit, origin.in_effect, file.path, as,
              origin.start, origin.at_sleep});
    if (origin.weight() > file.origin.weight()) file.origin = std::move(origin);
  }

  [[nodiscard]] Found read(const std::string& path, const Origin& origin) const {
    Found file{path, origin.by.empty() ? origin.place->form : RecipeForm::Script, origin};
    // A crontab is in cron's spool, where the folder's group may add files.
    auto text = file.form == RecipeForm::Crontab
                    ? read_spooled(root_ / path)
                    : read_file(root_ / path, kSizeLimit, kTrustedLinks);
    if (!text)
      file.error = std::move(text.error());
    else if (text->find('\0') == std::string::npos)
      file.look = look_at(file.form, *text, scope_);
    const std::string lines = "\n" + text.value_or("");
    for (const std::string_view mark : {kMigratedMark, kMigratedLastMark})
      file.migrated = file.migrated || has_part(lines, "\n" + std::string{mark});
    return file;
  }

  // True for a folder, a device, a large program, or a socket, which may be closed to this user.
  [[nodiscard]] bool is_no_script(const Found& file) const {
    const int code = file.error->code;
    const auto status = status_of(root_ / file.path);
    return code == EISDIR || code == EINVAL || (status && !S_ISREG(status->st_mode)) ||
           (code == EFBIG && (file.origin.only_tools || !file.origin.by.empty()));
  }

  // Adds the file to the recipe if it belongs there.
  void add(Found& file) {
    const Origin& origin = file.origin;
    if (file.error && !is_no_script(file)) note(file.path, &origin, *file.error);
    auto& lines = file.look.lines;
    for (RecipeLine& line : lines) {
      judge(line, file.form, origin);
      if (line.kind == LineKind::Driver && line.by_hand.empty())
        line.by_hand = file.at_sleep ? kAtSleepToo : file.at_stop;
    }
    const bool recipe = std::any_of(lines.begin(), lines.end(), [&](const RecipeLine& line) {
      return line.kind == LineKind::Driver && (!origin.only_tools || line.touches_driver);
    });
    if (!recipe && (!file.migrated || lines.empty())) return;
    if (file.form == RecipeForm::Unit) judge_unit(file);
    std::vector<std::string> units;
    for (const std::string& unit : file.units) {
      auto instances = starts_.instances_of(unit);
      append(units, instances.empty() ? std::vector{unit} : std::move(instances));
    }
    recipe_.files.push_back({file.path, file.names, file.form, origin.by, origin.unit,
                             std::move(units), origin.when(), origin.in_effect, std::move(lines),
                             file.look.shell, file.look.nothing_else, file.by_timer});
  }

  void judge_unit(Found& file) {
    const Origin& origin = file.origin;
    bool& retires = file.look.nothing_else;
    retires = retires && !file.at_sleep && !origin.only_tools && file.path == origin.called &&
              origin.runs_at_boot() && file.path.ends_with("/" + origin.unit) &&
              !starts_.has_drop_ins(origin.unit, kRetiringDropIn);
    const bool bound = retires && starts_.is_bound(origin.unit);
    retires = retires && !bound;
    for (RecipeLine& line : file.look.lines)
      if (!retires && line.by_hand.empty()) line.by_hand = bound ? kBound : kOtherCommands;
  }

  [[nodiscard]] bool is_retired(const std::string& unit) const {
    return status_of(root_ / ("/etc/systemd/system/" + unit + ".d/" + kRetiringDropIn)).has_value();
  }

  const Root& root_;
  const RecipeScope& scope_;
  std::span<const RecipePlace> others_;
  bool in_others_ = false;  // in these now
  Recipe recipe_;
  std::deque<Found> found_;                   // in the order in which they were read
  std::map<std::string, std::size_t> index_;  // in `found_`, by path
  std::set<std::string> known_;               // names that hide others, without_folder()
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
