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

constexpr Place kBootPlaces[] = {
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

struct Event {
  const char* when;
  const char* why;
};
constexpr Event kDaily{"run by cron again and again", "cron runs it again and again: a loop"};
constexpr Event kUdev{"run by udev", "udev runs it at each such event, beside the agent"};
constexpr Event kNetwork{"run when a link changes",
                         "it runs whenever a link changes, also by the agent's steps: a loop"};
constexpr Event kInterface{"run by ifup and ifdown",
                           "it runs whenever the interface is brought up or down"};
constexpr Event kPower{"run at suspend and resume",
                       "it runs beside the agent, which looks at the ports after a resume itself"};
constexpr Event kCloud{"run by cloud-init",
                       "cloud-init runs it at the first boot of a VM or at each, beside the agent"};
constexpr Event kTuned{"run by tuned", "tuned runs it whenever it takes up or leaves that profile"};
constexpr Event kSlurm{"run by Slurm before or after a job",
                       "Slurm runs it at each job, whatever uses an adapter then: a loop"};
constexpr Event kModprobe{"run by modprobe",
                          "modprobe runs it whenever that module is loaded or removed"};

constexpr Place on(const Event& event, const char* pattern, Form form = Form::Script) {
  return {pattern, form, false, event.when, "", event.why};
}
constexpr Place unit(const char* pattern) {
  return {pattern, Form::Unit, true, kAtBoot, "", "a package's unit is not edited"};
}
constexpr Place init_script(const char* pattern) {
  return {pattern,       Form::Script, true,
          "run by init", "",           "init runs it whenever the service is started or stopped"};
}

constexpr Place kOtherPlaces[] = {
    unit("systemd/system/*.service"),
    unit("systemd/system/*.service.d/*.conf"),
    // Also SUSE's before.local and after.local.
    init_script("/etc/init.d/*"),
    init_script("/etc/rc.d/init.d/*"),
    on(kDaily, "/etc/cron.*ly/*"),
    on(kUdev, "udev/rules.d/*.rules", Form::UdevRules),
    on(kNetwork, "NetworkManager/dispatcher.d/*"),
    on(kNetwork, "NetworkManager/dispatcher.d/*.d/*"),
    on(kNetwork, "networkd-dispatcher/*.d/*"),
    on(kNetwork, "/etc/dhcp/dhclient-*-hooks"),
    on(kNetwork, "/etc/dhcp/dhclient*.d/*"),
    on(kInterface, "/etc/network/interfaces", Form::Interfaces),
    on(kInterface, "/etc/network/interfaces.d/*", Form::Interfaces),
    on(kInterface, "/etc/network/if-*.d/*"),
    on(kInterface, "/sbin/if*-local"),
    on(kPower, "systemd/system-sleep/*"),
    on(kPower, "/etc/pm/*.d/*"),
    on(kPower, "/usr/lib/pm-utils/*.d/*"),
    on(kPower, "/etc/vmware-tools/tools.conf", Form::Settings),
    on(kPower, "/etc/vmware-tools/*"),
    on(kPower, "/etc/vmware-tools/*.d/*"),
    on(kPower, "/etc/vmware-tools/scripts/*/*"),
    on(kCloud, "/etc/cloud/cloud.cfg", Form::CloudConfig),
    on(kCloud, "/etc/cloud/cloud.cfg.d/*.cfg", Form::CloudConfig),
    on(kCloud, "/var/lib/cloud/instance/*-data.txt", Form::CloudConfig),
    on(kCloud, "/var/lib/cloud/seed/*/*-data", Form::CloudConfig),
    on(kCloud, "/var/lib/cloud/scripts/*/*"),
    on(kTuned, "/etc/tuned/*/tuned.conf", Form::Settings),
    on(kTuned, "/etc/tuned/*/*.sh"),
    on(kTuned, "/etc/tuned/profiles/*/tuned.conf", Form::Settings),
    on(kTuned, "/etc/tuned/profiles/*/*.sh"),
    on(kSlurm, "/etc/slurm*/slurm.conf", Form::Settings),
    on(kSlurm, "/etc/slurm*/*prolog*"),
    on(kSlurm, "/etc/slurm*/*epilog*"),
    on(kSlurm, "/etc/slurm*/*prolog*/*"),
    on(kSlurm, "/etc/slurm*/*epilog*/*"),
    on(kModprobe, "modprobe.d/*.conf", Form::ModprobeFile),
};

}  // namespace

std::span<const Place> boot_places() { return kBootPlaces; }
std::span<const Place> other_places() { return kOtherPlaces; }

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

// systemd.timer(5): each of the other two counts from the boot, and so once. One that cannot be
// read is taken for such a one, which the agent waits for.
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

bool UnitStarts::has_drop_ins(const std::string& unit, const std::string& but) {
  for (const std::string& folder : folders_)
    for (const std::string& name : names_in_(folder + "/" + unit + ".d"))
      if (name != but) return true;
  return false;
}

}  // namespace pvrdma::probes
