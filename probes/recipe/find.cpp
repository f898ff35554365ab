#include "probes/recipe/find.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>

#include "probes/recipe/below.hpp"
#include "probes/recipe/formats.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::size_t kFileLimit = 512;          // in all; scripts may run each other
constexpr std::size_t kSizeLimit = 256U << 10U;  // bytes; a script of the field is no longer

// Distributions' own folders: what a package runs is not the field's.
constexpr std::array kPackaged{"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/", "/usr/lib/", "/lib/"};

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
    bool with_user = false;  // of a crontab
    std::string by, unit;
    bool at_boot = true;
  };

  std::optional<struct stat> status(const std::string& path) {
    recipe_.looked_at.push_back(path);
    struct stat found {};
    if (::stat((root_ / path).c_str(), &found) == 0) return found;
    const Error error{errno, "looking at", path};
    if (!means_absent(error)) recipe_.unreadable.push_back(error);
    return std::nullopt;
  }

  std::vector<std::string> names_in(const std::string& directory) {
    recipe_.looked_at.push_back(directory);
    auto names = list_directory(root_ / directory);
    if (names) return std::move(*names);
    if (!means_absent(names.error())) recipe_.unreadable.push_back(names.error());
    return {};
  }

  RecipeReading read(const std::string& text, const Place& place) const {
    switch (place.form) {
      case RecipeForm::Crontab:
        return read_crontab(text, place.with_user, scope_);
      case RecipeForm::Unit:
        return read_unit(text, scope_);
      case RecipeForm::ModuleList:
        return read_module_list(text, scope_);
      case RecipeForm::Script:
        break;
    }
    return read_recipe(text, scope_);
  }

  // Reads a file, and what it runs.
  void take(const std::string& name, const Place& place) {
    if (seen_.size() >= kFileLimit) return;
    const auto path = resolve_below(root_, name);
    if (!path) return recipe_.unreadable.push_back(path.error());
    if (*path != name) recipe_.looked_at.push_back(name);
    if (!seen_.insert(*path).second) return;
    const auto found = status(*path);
    if (!found || !S_ISREG(found->st_mode)) return;
    const auto text = read_file(root_ / *path, kSizeLimit);
    if (!text) {
      // A program is no script, whatever it is for.
      if (text.error().code != EFBIG) recipe_.unreadable.push_back(text.error());
      return;
    }
    if (text->find('\0') != std::string::npos) return;
    RecipeFile file{*path, place.form, place.by, place.unit, place.at_boot, read(*text, place)};
    const auto scripts = file.reading.scripts;
    if (!file.reading.lines.empty()) recipe_.files.push_back(std::move(file));
    for (const std::string& script : scripts) take_script(script, *path, place);
  }

  void take_script(const std::string& path, const std::string& by, const Place& place) {
    if (std::any_of(kPackaged.begin(), kPackaged.end(),
                    [&](const char* prefix) { return path.starts_with(prefix); }))
      return;
    take(path, {RecipeForm::Script, false, by, place.unit, place.at_boot});
  }

  // Both names are read: systemd's generator takes Debian's or Enterprise Linux's, as it was built.
  void look_at_rc_local() {
    for (const char* name : {"/etc/rc.local", "/etc/rc.d/rc.local"}) {
      const auto path = resolve_below(root_, name);
      const auto found = path ? status(*path) : std::nullopt;
      take(name, {RecipeForm::Script,
                  false,
                  {},
                  "rc-local.service",
                  found && (found->st_mode & S_IXUSR) != 0});
    }
  }

  void look_at_crontabs() {
    const std::string unit =
        std::filesystem::exists(root_ / "/usr/lib/systemd/system/crond.service") ? "crond.service"
                                                                                 : "cron.service";
    take("/etc/crontab", {RecipeForm::Crontab, true, {}, unit});
    for (const std::string& name : names_in("/etc/cron.d"))
      if (!name.starts_with('.'))
        take("/etc/cron.d/" + name, {RecipeForm::Crontab, true, {}, unit});
    for (const std::string directory :
         {"/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron"})
      for (const std::string& name : names_in(directory))
        if (std::error_code error;
            !std::filesystem::is_directory(root_ / (directory + "/" + name), error))
          take(directory + "/" + name, {RecipeForm::Crontab, false, {}, unit});
  }

  // Wanted or required by another unit: by a link that `systemctl enable` made.
  [[nodiscard]] bool is_enabled(const std::string& unit) {
    const std::string stem = unit.substr(0, unit.rfind('.'));
    for (const std::string directory : {"/etc/systemd/system", "/usr/local/lib/systemd/system"})
      for (const std::string& name : names_in(directory)) {
        if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
        recipe_.looked_at.push_back(directory + "/" + name);
        for (const std::string& wanted : {unit, stem + ".timer"}) {
          std::error_code error;
          const auto link = root_ / (directory + "/" + name + "/" + wanted);
          if (std::filesystem::is_symlink(std::filesystem::symlink_status(link, error)))
            return true;
        }
      }
    return false;
  }

  [[nodiscard]] bool is_retired(const std::string& unit) const {
    std::error_code error;
    return std::filesystem::exists(
        root_ / ("/etc/systemd/system/" + unit + ".d/" + kRetiringDropIn), error);
  }

  void look_at_units() {
    for (const std::string directory : {"/etc/systemd/system", "/usr/local/lib/systemd/system"}) {
      for (const std::string& name : names_in(directory)) {
        const std::string path = directory + "/" + name;
        if (name.ends_with(".service")) take_unit(path, name);
        if (!name.ends_with(".service.d")) continue;
        for (const std::string& part : names_in(path))
          if (part.ends_with(".conf"))
            take_unit(path + "/" + part, name.substr(0, name.size() - 2));
      }
    }
  }

  [[nodiscard]] bool drop_ins_do_nothing_else(const std::string& unit) {
    const std::string directory = "/etc/systemd/system/" + unit + ".d";
    // A command of the recipe's for those that have none.
    std::string all = "[Service]\nExecStart=modprobe vmw_pvrdma\n";
    for (const std::string& name : names_in(directory))
      if (name.ends_with(".conf"))
        all += read_file(root_ / (directory + "/" + name), kSizeLimit).value_or("") + "\n";
    return read_unit(all, scope_).nothing_else;
  }

  void take_unit(const std::string& path, const std::string& unit) {
    // Links lead to packages' units (aliases) or to /dev/null (masked).
    std::error_code error;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(root_ / path, error))) return;
    const std::size_t before = recipe_.files.size();
    take(path, {RecipeForm::Unit, false, {}, unit});
    if (recipe_.files.size() == before) return;
    RecipeFile& own = recipe_.files[before];
    if (own.path == path && own.reading.nothing_else && !drop_ins_do_nothing_else(unit)) {
      own.reading.nothing_else = false;
      for (RecipeLines& lines : own.reading.lines)
        if (lines.left.empty()) lines.left = "a drop-in gives the unit something else to do";
    }
    if (own.path == path && !path.ends_with("/" + unit))
      for (RecipeLines& lines : own.reading.lines)
        if (lines.left.empty() && lines.text.find("ExecStart=") != std::string::npos)
          lines.left = "a drop-in's ExecStart= may be the only one that the unit has";
    const bool runs = is_enabled(unit) && !is_retired(unit);
    for (std::size_t at = before; at < recipe_.files.size(); ++at) recipe_.files[at].at_boot = runs;
  }

  void look_at_module_lists() {
    take("/etc/modules", {RecipeForm::ModuleList, false, {}, {}});
    for (const std::string& name : names_in("/etc/modules-load.d"))
      if (name.ends_with(".conf"))
        take("/etc/modules-load.d/" + name, {RecipeForm::ModuleList, false, {}, {}});
  }

  const Root& root_;
  const RecipeScope& scope_;
  Recipe recipe_;
  std::set<std::string> seen_;
};

}  // namespace

Recipe find_recipe(const Root& root, const RecipeScope& scope) { return Finder{root, scope}.run(); }

}  // namespace pvrdma::probes
