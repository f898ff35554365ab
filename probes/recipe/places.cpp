// SPDX-License-Identifier: GPL-2.0-or-later
#include "probes/recipe/places.hpp"

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

}  // namespace

std::span<const RecipePlace> boot_places() { return kBootPlaces; }

UnitStart UnitStarts::of(const std::string& unit) {
  if (!wanted_) {
    wanted_.emplace();
    for (const std::string& folder : folders_)
      for (const std::string& name : names_in_(folder)) {
        if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
        const auto& names = names_in_(folder + "/" + name);
        wanted_->insert(names.begin(), names.end());
      }
  }
  if (wanted_->contains(unit)) return UnitStart::AtBoot;
  const std::string timer = unit.substr(0, unit.rfind('.')) + ".timer";
  return wanted_->contains(timer) ? by_timer(timer) : UnitStart::Never;
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
    for (const std::string& name : names_in_(folder + "/" + unit + ".d"))
      if (name != except) return true;
  return false;
}

}  // namespace pvrdma::probes
