// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/survey/recipe.hpp"

#include <string>
#include <vector>

#include "probes/pci.hpp"

namespace pvrdma::probes {

namespace {

using Form = RecipeForm;

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
constexpr Event kSleep{kRunAtSleep,
                       "before a suspend the driver has to be unloaded, which the agent does not "
                       "do: keep that, with `systemctl stop pvrdma-agent` before it, as a running "
                       "agent loads the driver again at once, and `systemctl start --no-block "
                       "pvrdma-agent` after the resume"};
constexpr Event kCloud{"run by cloud-init",
                       "cloud-init runs it at the first boot of a VM or at each, beside the agent"};
constexpr Event kTuned{"run by tuned", "tuned runs it whenever it takes up or leaves that profile"};
constexpr Event kSlurm{"run by Slurm before or after a job",
                       "Slurm runs it at each job, whatever uses an adapter then: a loop"};
constexpr Event kModprobe{"run by modprobe",
                          "modprobe runs it whenever that module is loaded or removed"};

constexpr RecipePlace on(const Event& event, const char* pattern, Form form = Form::Script) {
  return {pattern, form, false, event.when, "", event.why};
}
constexpr RecipePlace unit(const char* pattern) {
  return {pattern, Form::Unit, true, "run at every boot", "", "a package's unit is not edited"};
}
constexpr RecipePlace init_script(const char* pattern) {
  return {pattern,       Form::Script, true,
          "run by init", "",           "init runs it whenever the service is started or stopped"};
}

constexpr RecipePlace kOtherPlaces[] = {
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
    on(kSleep, "systemd/system-sleep/*"),
    on(kSleep, "/etc/pm/*.d/*"),
    on(kSleep, "/usr/lib/pm-utils/*.d/*"),
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

Recipe find_whole_recipe(const Root& root, const RecipeScope& scope) {
  return find_recipe(root, scope, kOtherPlaces);
}

std::vector<Error> unread_files(const Recipe& recipe) {
  std::vector<Error> unread = recipe.unreadable;
  for (const NotOfRoot& one : recipe.not_of_root)
    if (one.at_boot)
      unread.push_back(
          {0, "", one.path + " is not opened, as it is not root's alone: it " + one.why});
  return unread;
}

RecipeScope recipe_scope(const Root& root, const Config& config) {
  RecipeScope scope;
  scope.modules = config.modules.before;
  const auto adapters = find_adapters(root);
  for (const PciAdapter& adapter : adapters ? *adapters : std::vector<PciAdapter>{}) {
    scope.functions.push_back(adapter.function);
    if (const std::string* name = adapter.netdev.get()) scope.netdevs.push_back(*name);
  }
  if (scope.netdevs.empty()) return scope;
  for (const AdapterConfig& adapter : config.adapters)
    if (adapter.match.netdev) scope.netdevs.push_back(*adapter.match.netdev);
  return scope;
}

}  // namespace pvrdma::probes
