#include "probes/recipe/find.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "agent/base/handle.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kFilesInAll = 512;         // in all
constexpr std::size_t kSizeLimit = 256U << 10U;  // bytes; a script of the field is no longer
constexpr std::array<const char*, 2> kUnitFolders{"/etc/systemd/system",
                                                  "/usr/local/lib/systemd/system"};

// Of root, in a folder of root's where others may add files, but cannot replace any (sticky).
Result<std::string> read_spooled(const RootedPath& place) {
  const auto parent = open_rooted_parent(place);
  if (!parent) return fail(parent.error());
  struct stat folder {
  }, file{};
  if (::fstat(parent->folder.get(), &folder) != 0) return fail(errno, "looking at", place);
  // Before it is opened, too: to be opened does something to some devices.
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
    return fail(EPERM, "opening", place.string() + ", which is not root's alone");
  return read_file(fd, place, kSizeLimit);
}

class Finder {
 public:
  Finder(const Root& root, const RecipeScope& scope) : root_(root), scope_(scope) {}

  Recipe run() {
    look_at_rc_local();
    look_at_crontabs();
    look_at_units();
    look_at_module_lists();
    return std::move(recipe_);
  }

 private:
  struct Place {
    RecipeForm form = RecipeForm::Script;
    std::string unit{};  // as of RecipeFile
    bool at_boot = true;
    bool with_user = false;  // of a crontab
    bool spooled = false;    // in cron's spool, whose folder's group may add files
    std::string by{};
  };

  // Why a place was not looked at. Where others than root can write, only if there is something.
  void note(const std::string& path, const Place& place, const Error& error) {
    if (error.code != EPERM) {
      if (!means_absent(error)) recipe_.unreadable.push_back(error);
      return;
    }
    if (!status_of(root_ / path, FinalLink::Shown)) return;
    constexpr std::string_view kWhich = ", which ";
    const std::size_t which = error.what.rfind(kWhich);
    recipe_.not_of_root.push_back(
        {path, place.by,
         which == std::string::npos ? error.what : error.what.substr(which + kWhich.size()),
         place.at_boot});
  }

  const std::vector<std::string>& names_in(const std::string& folder) {
    const auto [at, added] = names_.try_emplace(folder);
    if (!added) return at->second;
    recipe_.looked_at.push_back(folder);
    auto names = list_directory(root_ / folder, kTrustedLinks);
    if (names)
      at->second = std::move(*names);
    else
      note(folder, {}, names.error());
    return at->second;
  }

  RecipeLook look(std::string_view text, const Place& place) const {
    switch (place.form) {
      case RecipeForm::Crontab:
        return look_at_crontab(text, place.with_user, scope_);
      case RecipeForm::Unit:
        return look_at_unit(text, scope_);
      case RecipeForm::ModuleList:
        return look_at_module_list(text, scope_);
      case RecipeForm::Script:
        break;
    }
    return look_at_script(text, scope_);
  }

  // The text of a regular file that root alone can have written; none: there is none to look at.
  std::optional<std::string> text_of(const std::string& path, const Place& place) {
    auto text = place.spooled ? read_spooled(root_ / path)
                              : read_file(root_ / path, kSizeLimit, kTrustedLinks);
    if (text && text->find('\0') == std::string::npos) return std::move(*text);
    if (text) return std::nullopt;
    const int code = text.error().code;
    // A folder, a device, or a program, which is no script, whatever it is for.
    const bool no_script = code == EISDIR || code == EINVAL || (code == EFBIG && !place.by.empty());
    if (!no_script) note(path, place, text.error());
    return std::nullopt;
  }

  // The file and, where it is run by the system itself, the scripts that it names. What was found
  // in the file, until more are taken; null: nothing of the recipe.
  RecipeFile* take(const std::string& called, const Place& place) {
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
    const auto text = text_of(path, place);
    if (!text) return nullptr;
    RecipeLook found = look(*text, place);
    const bool recipe = std::any_of(found.lines.begin(), found.lines.end(),
                                    [](const auto& line) { return line.kind == LineKind::Driver; });
    const auto marked = [lines = "\n" + *text](std::string_view mark) {
      return lines.find("\n" + std::string{mark}) != std::string::npos;
    };
    const bool migrated = marked(kMigratedMark) || marked(kMigratedLastMark);
    const std::size_t before = recipe_.files.size();
    const bool kept = recipe || (migrated && !found.lines.empty());
    if (kept)
      recipe_.files.push_back({path, called, place.form, place.by, place.unit, place.at_boot,
                               std::move(found.lines), found.shell, found.nothing_else});
    if (place.by.empty())
      for (const std::string& script : found.scripts)
        take(script, {RecipeForm::Script, place.unit, place.at_boot, false, false, path});
    return kept ? &recipe_.files[before] : nullptr;
  }

  static void leave_to_person(RecipeFile& file, const char* why) {
    for (RecipeLine& line : file.lines)
      if (line.by_hand.empty()) line.by_hand = why;
  }

  // Both names are read: systemd's generator takes Debian's or Enterprise Linux's, as it was built.
  void look_at_rc_local() {
    for (const char* name : {"/etc/rc.local", "/etc/rc.d/rc.local"}) {
      const auto found = status_of(root_ / name);
      const bool runs = found && (found->st_mode & S_IXUSR) != 0;
      take(name, {RecipeForm::Script, "rc-local.service", runs});
    }
  }

  // Of users' crontabs root's alone: what others run cannot load a module. Debian's crontab(1)
  // writes there as a group of its own: root's file is root's all the same, but another is not put
  // in its place here.
  void look_at_crontabs() {
    const bool el = status_of(root_ / "/usr/lib/systemd/system/crond.service").has_value();
    const std::string unit = el ? "crond.service" : "cron.service";
    const Place with_user{RecipeForm::Crontab, unit, true, true};
    take("/etc/crontab", with_user);
    for (const std::string& name : names_in("/etc/cron.d"))
      if (!name.starts_with('.')) take("/etc/cron.d/" + name, with_user);
    for (const char* name :
         {"/var/spool/cron/crontabs/root", "/var/spool/cron/tabs/root", "/var/spool/cron/root"})
      if (RecipeFile* own = take(name, {RecipeForm::Crontab, unit, true, false, true}))
        leave_to_person(*own, "root's own crontab is edited by `crontab -e`");
  }

  // Units, and what timers start, that another unit wants: by a link that `systemctl enable` made.
  std::set<std::string> enabled_units() {
    std::set<std::string> enabled;
    for (const std::string folder : kUnitFolders)
      for (const std::string& name : names_in(folder)) {
        if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
        for (const std::string& unit : names_in(folder + "/" + name))
          enabled.insert(unit.ends_with(".timer") ? unit.substr(0, unit.size() - 6) + ".service"
                                                  : unit);
      }
    return enabled;
  }

  [[nodiscard]] bool is_retired(const std::string& unit) const {
    return status_of(root_ / ("/etc/systemd/system/" + unit + ".d/" + kRetiringDropIn)).has_value();
  }

  void look_at_units() {
    const std::set<std::string> enabled = enabled_units();
    for (const std::string folder : kUnitFolders) {
      for (const std::string& name : names_in(folder)) {
        const std::string path = folder + "/" + name;
        const bool drop_ins = name.ends_with(".service.d");
        if (!drop_ins && !name.ends_with(".service")) continue;
        const std::string unit = drop_ins ? name.substr(0, name.size() - 2) : name;
        const bool runs = enabled.contains(unit) && !is_retired(unit);
        const Place place{RecipeForm::Unit, unit, runs};
        if (!drop_ins) {
          take_unit(path, place);
          continue;
        }
        for (const std::string& part : names_in(path))
          if (part.ends_with(".conf")) take_unit(path + "/" + part, place);
      }
    }
  }

  // A drop-in beside migrate's own may give the unit something else to do.
  [[nodiscard]] bool has_drop_ins(const std::string& unit) {
    for (const std::string folder : kUnitFolders)
      for (const std::string& name : names_in(folder + "/" + unit + ".d"))
        if (name != kRetiringDropIn) return true;
    return false;
  }

  void take_unit(const std::string& path, const Place& place) {
    // Links lead to packages' units (aliases) or to /dev/null (masked).
    const auto found = status_of(root_ / path, FinalLink::Shown);
    if (!found || S_ISLNK(found->st_mode)) return;
    RecipeFile* const own = take(path, place);
    if (own == nullptr) return;
    own->retires_unit =
        own->retires_unit && path.ends_with("/" + place.unit) && !has_drop_ins(place.unit);
    if (!own->retires_unit)
      leave_to_person(*own, "the unit or a drop-in of it has other commands, too");
  }

  void look_at_module_lists() {
    take("/etc/modules", {RecipeForm::ModuleList});
    for (const std::string& name : names_in("/etc/modules-load.d"))
      if (name.ends_with(".conf")) take("/etc/modules-load.d/" + name, {RecipeForm::ModuleList});
  }

  const Root& root_;
  const RecipeScope& scope_;
  Recipe recipe_;
  std::set<std::string> seen_;
  std::map<std::string, std::vector<std::string>> names_;  // of folders
};

}  // namespace

Recipe find_recipe(const Root& root, const RecipeScope& scope) { return Finder{root, scope}.run(); }

}  // namespace pvrdma::probes
