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

bool is_template(const std::string& unit) { return unit.find("@.") != std::string::npos; }

// Whether the unit has that file: "up@ens224.service" has "up@.service".
bool is_of(std::string_view unit, std::string_view file) {
  const std::size_t at = file.find("@.");
  if (at == std::string_view::npos) return unit == file;
  return unit.starts_with(file.substr(0, at + 1)) && unit.ends_with(file.substr(at + 1));
}

std::string timer_of(const std::string& unit) { return unit.substr(0, unit.rfind('.')) + ".timer"; }

}  // namespace

std::span<const RecipePlace> boot_places() { return kBootPlaces; }

UnitStart UnitStarts::of(const std::string& unit) {
  if (!wanted_) find_wanted();
  const auto is_wanted = [&](const std::string& name) {
    if (!is_template(name)) return wanted_->contains(name);
    return std::any_of(wanted_->begin(), wanted_->end(),
                       [&](const std::string& one) { return is_of(one, name); });
  };
  if (is_wanted(unit)) return UnitStart::AtBoot;
  const std::string timer = timer_of(unit);
  return is_wanted(timer) ? by_timer(timer) : UnitStart::Never;
}

std::vector<std::string> UnitStarts::instances_of(const std::string& unit) {
  std::vector<std::string> instances;
  if (!is_template(unit) || of(unit) == UnitStart::Never) return instances;
  for (const std::string& one : *wanted_)
    if (is_of(one, unit) || is_of(one, timer_of(unit)))
      instances.push_back(one.substr(0, one.rfind('.')) + ".service");
  return instances;
}

void UnitStarts::find_wanted() {
  wanted_.emplace();
  for (const std::string& folder : folders_) {
    // Packages make links where a unit of theirs is to run; many of their units never start.
    const bool of_administrator = folder.starts_with("/etc/") || folder.starts_with("/usr/local/");
    for (const std::string& name : names_in_(folder)) {
      const std::string path = folder + "/" + name;
      if (name.ends_with(".wants") || name.ends_with(".requires")) {
        const auto& names = names_in_(path);
        wanted_->insert(names.begin(), names.end());
      } else if (of_administrator && name.ends_with(".d")) {
        for (const std::string& file : names_in_(path))
          if (file.ends_with(".conf")) add_wanted_by(path + "/" + file);
      } else if (of_administrator && (name.ends_with(".service") || name.ends_with(".target"))) {
        add_wanted_by(path);
      }
    }
  }
}

void UnitStarts::add_wanted_by(const std::string& file) {
  constexpr std::array kKeys{"Wants", "Requires", "BindsTo", "Upholds"};
  looked_at_.push_back(file);
  const auto text = read_file(root_ / file, kReadLimitBytes, kTrustedLinks);
  if (!text) return;
  for (const Setting& one : parse_settings(*text))
    if (one.section == "Unit" && contains(kKeys, one.key))
      for (const std::string_view unit : split_at_blanks(one.value)) wanted_->emplace(unit);
}

// systemd.timer(5): the other two kinds of timer start the unit once in a boot. A timer that cannot
// be read is treated like these, so the agent waits for its unit.
UnitStart UnitStarts::by_timer(const std::string& timer) {
  UnitStart start = UnitStart::AfterBoot;
  for (const std::string& folder : folders_) {
    looked_at_.push_back(folder + "/" + timer);
    const auto text = read_file(root_ / looked_at_.back());
    if (!text) continue;
    for (const Setting& one : parse_settings(*text))
      if (one.section == "Timer" && (one.key == "OnCalendar" || one.key == "OnUnitActiveSec" ||
                                     one.key == "OnUnitInactiveSec"))
        start = UnitStart::ByTimer;
    break;
  }
  return start;
}

bool UnitStarts::has_drop_ins(const std::string& unit, const std::string& except) {
  for (const std::string& folder : folders_)
    for (const std::string& entry : names_in_(folder))
      if (entry.ends_with(".d") && is_of(entry.substr(0, entry.size() - 2), unit))
        for (const std::string& name : names_in_(folder + "/" + entry))
          if (name != except) return true;
  return false;
}

}  // namespace pvrdma::probes
