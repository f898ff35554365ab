// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/places.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "probes/settings.hpp"

namespace pvrdma::probes {

namespace {

using Form = RecipeForm;

constexpr const char* kAtBoot = "run at every boot";
constexpr const char* kByCron = "run by cron";
constexpr const char* kCron = "cron.service";  // or crond.service
constexpr const char* kOwnCrontab = "root's own crontab is edited by `crontab -e`";

constexpr RecipePlace kBootPlaces[] = {
    // systemd's generator uses Debian's or Enterprise Linux's name, depending on its build.
    {"/etc/rc.local", Form::Script, true, kAtBoot, "rc-local.service", ""},
    {"/etc/rc.d/rc.local", Form::Script, true, kAtBoot, "rc-local.service", ""},
    // /usr/libexec/loadmodules of Enterprise Linux 8 and 9.
    {"/etc/sysconfig/modules/*.modules", Form::Script, true, kAtBoot, "loadmodules.service", ""},
    {"/etc/rc.modules", Form::Script, true, kAtBoot, "loadmodules.service", ""},
    {"/etc/crontab", Form::SystemCrontab, true, kByCron, kCron, ""},
    {"/etc/cron.d/*", Form::SystemCrontab, true, kByCron, kCron, ""},
    // Of the users' crontabs only root's, as other users cannot load a module. Debian's crontab(1)
    // writes there with its own group, so `migrate` does not replace such a file.
    {"/var/spool/cron/crontabs/root", Form::Crontab, true, kByCron, kCron, kOwnCrontab},
    {"/var/spool/cron/tabs/root", Form::Crontab, true, kByCron, kCron, kOwnCrontab},
    {"/var/spool/cron/root", Form::Crontab, true, kByCron, kCron, kOwnCrontab},
    {"/etc/systemd/system/*.service", Form::Unit, true, kAtBoot, "", ""},
    {"/etc/systemd/system/*.service.d/*.conf", Form::Unit, true, kAtBoot, "", ""},
    {"/usr/local/lib/systemd/system/*.service", Form::Unit, true, kAtBoot, "", ""},
    {"/usr/local/lib/systemd/system/*.service.d/*.conf", Form::Unit, true, kAtBoot, "", ""},
    {"/etc/modules", Form::ModuleList, true, "read at every boot", "", ""},
    {"/etc/modules-load.d/*.conf", Form::ModuleList, true, "read at every boot", "", ""},
};

// Targets and services that systemd starts for a suspend, and that have started only after the
// resume (systemd.special(7)).
bool has_started_at_resume(std::string_view unit) {
  constexpr std::array<std::string_view, 8> kUnits{"suspend.target",
                                                   "hibernate.target",
                                                   "hybrid-sleep.target",
                                                   "suspend-then-hibernate.target",
                                                   "systemd-suspend.service",
                                                   "systemd-hibernate.service",
                                                   "systemd-hybrid-sleep.service",
                                                   "systemd-suspend-then-hibernate.service"};
  return contains(kUnits, unit);
}

// Targets and services that suspend or end the system.
bool is_at_sleep(std::string_view unit) {
  constexpr std::array<std::string_view, 10> kUnits{
      "sleep.target", "shutdown.target",    "umount.target",   "final.target", "reboot.target",
      "kexec.target", "soft-reboot.target", "poweroff.target", "halt.target",  "exit.target"};
  return has_started_at_resume(unit) || contains(kUnits, unit);
}

bool is_template(const std::string& unit) { return unit.find("@.") != std::string::npos; }

// Whether the unit has that file: "up@ens224.service" has "up@.service".
bool is_of(std::string_view unit, std::string_view file) {
  const std::size_t at = file.find("@.");
  if (at == std::string_view::npos) return unit == file;
  return unit.starts_with(file.substr(0, at + 1)) && unit.ends_with(file.substr(at + 1));
}

bool any_is_of(const std::set<std::string>& units, std::string_view file) {
  return std::ranges::any_of(units, [&](const std::string& unit) { return is_of(unit, file); });
}

// "up@ens224.timer" -> "up@.timer"; empty: the unit is no instance.
std::string template_of(const std::string& unit) {
  const std::size_t at = unit.find('@');
  return at == std::string::npos ? "" : unit.substr(0, at + 1) + unit.substr(unit.rfind('.'));
}

}  // namespace

std::string_view without_folder(std::string_view path) {
  for (const std::string_view folder : kConfigFolders)
    if (path.starts_with(folder)) return path.substr(folder.size());
  return path;
}

std::vector<std::string> in_config_folders(const std::string& name) {
  std::vector<std::string> folders;
  folders.reserve(kConfigFolders.size());
  for (const std::string_view folder : kConfigFolders)
    folders.push_back(std::string{folder} + name);
  return folders;
}

std::span<const RecipePlace> boot_places() { return kBootPlaces; }

// cron(8) and run-parts(8) of Debian ignore files whose names have other characters. SUSE's
// /usr/sbin/cron is cronie, which takes them, and so does systemd-cron.
bool is_ignored_by_cron(const Root& root, const std::string& path) {
  if (!path.starts_with("/etc/cron.") || !status_of(root / "/etc/debian_version") ||
      !status_of(root / "/usr/sbin/cron"))
    return false;
  const std::string_view name = base_name(path);
  return !std::all_of(name.begin(), name.end(),
                      [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; });
}

UnitStart UnitStarts::of(const std::string& unit) {
  if (!starts_) find();
  UnitStart start = UnitStart::Never;
  for (const auto& [one, how] : *starts_)
    if (is_of(one, unit)) start = std::max(start, how);
  return start;
}

bool UnitStarts::at_sleep(const std::string& unit) {
  if (!starts_) find();
  return any_is_of(at_sleep_, unit);
}

bool UnitStarts::is_bound(const std::string& unit) {
  if (!starts_) find();
  return any_is_of(bound_, unit);
}

std::vector<std::string> UnitStarts::instances_of(const std::string& unit) {
  std::vector<std::string> instances;
  if (!is_template(unit) || of(unit) == UnitStart::Never) return instances;
  for (const auto& [one, how] : *starts_)
    if (is_of(one, unit)) instances.push_back(one);
  return instances;
}

void UnitStarts::add(const std::string& unit, UnitStart start) {
  UnitStart& known = (*starts_)[unit];
  known = std::max(known, start);
}

void UnitStarts::find() {
  starts_.emplace();
  for (const std::string& folder : units_) {
    // Packages make links where a unit of theirs is to run; many of their units never start.
    const bool of_administrator = folder.starts_with("/etc/") || folder.starts_with("/usr/local/");
    for (const std::string& name : names_in_(folder)) {
      const std::string path = folder + "/" + name;
      if (name.ends_with(".wants") || name.ends_with(".requires")) {
        const bool at_sleep = is_at_sleep(name.substr(0, name.rfind('.')));
        for (const std::string& unit : names_in_(path)) {
          add(unit, at_sleep ? UnitStart::AtSleep : UnitStart::AtBoot);
          if (at_sleep) at_sleep_.insert(unit);
        }
      } else if (of_administrator && name.ends_with(".d")) {
        for (const std::string& file : names_in_(path))
          if (file.ends_with(".conf")) add_wanted_by(path + "/" + file);
      } else if (of_administrator && (name.ends_with(".service") || name.ends_with(".target"))) {
        add_wanted_by(path);
      }
    }
  }
  std::set<std::string> names;
  for (const std::string& folder : rules_)
    for (const std::string& name : names_in_(folder))
      if (name.ends_with(".rules") && names.insert(name).second)
        add_wanted_by_rules(folder + "/" + name);
  std::vector<std::string> started;
  for (const auto& [unit, how] : *starts_) started.push_back(unit);
  for (const std::string& unit : started)
    if (unit.ends_with(".timer") || unit.ends_with(".path")) add_started_by(unit);
  std::erase_if(at_sleep_, [&](const std::string& unit) {
    if (!waits_for_resume(unit)) return false;
    add(unit, UnitStart::AfterSleep);
    return true;
  });
}

// Whether a unit that a suspend starts is ordered after it: it does not run before the resume.
bool UnitStarts::waits_for_resume(const std::string& unit) {
  for (const std::string& name : {unit, template_of(unit)})
    for (const std::string& folder : units_) {
      if (name.empty()) break;
      looked_at_.push_back(folder + "/" + name);
      const auto text = read_file(root_ / looked_at_.back(), kReadLimitBytes, kTrustedLinks);
      if (!text) continue;
      const auto settings = parse_settings(*text);
      return std::ranges::any_of(settings, [](const Setting& one) {
        return one.section == "Unit" && one.key == "After" &&
               std::ranges::any_of(split_at_blanks(one.value), has_started_at_resume);
      });
    }
  return false;
}

void UnitStarts::add_wanted_by(const std::string& file) {
  constexpr std::array kKeys{"Wants", "Requires", "BindsTo", "Upholds"};
  constexpr std::array kBinding{"BindsTo", "Requisite"};
  looked_at_.push_back(file);
  const auto text = read_file(root_ / file, kReadLimitBytes, kTrustedLinks);
  if (!text) return;
  for (const Setting& one : parse_settings(*text)) {
    if (one.section != "Unit") continue;
    for (const std::string_view unit : split_at_blanks(one.value)) {
      if (contains(kKeys, one.key)) add(std::string{unit}, UnitStart::AtBoot);
      if (contains(kBinding, one.key)) bound_.emplace(unit);
    }
  }
}

void UnitStarts::add_wanted_by_rules(const std::string& file) {
  constexpr std::string_view kKey = "ENV{SYSTEMD_WANTS}";
  const auto text = read_file(root_ / file, kReadLimitBytes, kTrustedLinks);
  if (!text) return;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = trimmed(cut(rest, '\n'));
    if (line.starts_with('#')) continue;
    for (std::size_t at = 0; (at = line.find(kKey)) != std::string_view::npos;) {
      line.remove_prefix(at + kKey.size());
      const std::string_view sign = trimmed(cut(line, '"')), units = cut(line, '"');
      if (sign != "=" && sign != "+=" && sign != ":=") continue;
      for (const std::string_view unit : split_at_blanks(units))
        add(std::string{unit}, UnitStart::ByEvent);
    }
  }
}

// Adds the service of a timer or path unit: its Unit=, else that of its own name. systemd.timer(5):
// OnCalendar= and two other keys start it again and again. A timer that cannot be read is treated
// as one that starts it once, so the agent waits for the service.
void UnitStarts::add_started_by(const std::string& unit) {
  const bool timer = unit.ends_with(".timer");
  const std::string stem = unit.substr(0, unit.rfind('.')), of_template = template_of(unit);
  UnitStart start = timer ? UnitStart::AfterBoot : UnitStart::ByEvent;
  std::string service = stem + ".service";
  const auto read = [&](const std::string& name) {
    for (const std::string& folder : units_) {
      looked_at_.push_back(folder + "/" + name);
      const auto text = read_file(root_ / looked_at_.back(), kReadLimitBytes, kTrustedLinks);
      if (!text) continue;
      for (const Setting& one : parse_settings(*text)) {
        if (one.section != (timer ? "Timer" : "Path")) continue;
        if (one.key == "OnCalendar" || one.key == "OnUnitActiveSec" ||
            one.key == "OnUnitInactiveSec")
          start = UnitStart::ByTimer;
        if (one.key == "Unit") service = one.value;
      }
      return true;
    }
    return false;
  };
  if (!read(unit) && !of_template.empty()) static_cast<void>(read(of_template));
  constexpr std::string_view kInstance = "%i";
  if (const std::size_t at = service.find(kInstance); at != std::string::npos)
    service.replace(at, kInstance.size(), stem.substr(stem.find('@') + 1));
  add(service, start);
}

bool UnitStarts::has_drop_ins(const std::string& unit, const std::string& except) {
  for (const std::string& folder : units_)
    for (const std::string& entry : names_in_(folder))
      if (entry.ends_with(".d") && is_of(entry.substr(0, entry.size() - 2), unit))
        for (const std::string& name : names_in_(folder + "/" + entry))
          if (name != except) return true;
  return false;
}

}  // namespace pvrdma::probes
