// SPDX-License-Identifier: GPL-2.0-or-later
// Administrators' files (tests/fixtures/field) in their places: the lines that are named, and the
// reason why each is left to a person.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "agent/tools/survey/recipe.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/probes/recipe_lines.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using namespace pvrdma::test;

namespace {

struct FieldMachine {
  Tree tree;
  RecipeScope with_function{.functions = {"0000:0b:00.1"}};

  void has(const std::string& fixture, const std::string& path) const {
    tree.file(path, "");
    std::filesystem::copy_file(std::string{places::fixtures} + "/field/" + fixture, tree / path,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(tree / path, std::filesystem::perms{0755});
  }
  [[nodiscard]] Recipe look() const { return find_whole_recipe(tree.root(), with_function); }
  [[nodiscard]] Lines lines_of(const std::string& path) const {
    for (const RecipeFile& file : look().files)
      if (file.path == path) return described(file.lines);
    return {};
  }
  // Checks a file that only tools look at; all its lines are left for that reason.
  void check_hook(const std::string& fixture, const std::string& path, const std::string& numbers,
                  const std::string& why) const {
    INFO(fixture);
    has(fixture, path);
    std::string seen;
    for (const RecipeFile& file : look().files)
      if (file.path == path)
        for (const RecipeLine& line : file.lines) {
          if (line.kind != LineKind::Driver || !line.touches_driver) continue;
          seen += (seen.empty() ? "" : " ") + std::to_string(line.number);
          CHECK(line.by_hand.find(why) == 0);
          CHECK(!line.at_boot);
        }
    CHECK(seen == numbers);
    CHECK(find_recipe(tree.root(), with_function).files.empty());
  }
};

}  // namespace

TEST_CASE("/etc/modules with carriage returns: reported once") {
  const FieldMachine machine;
  machine.has("F05-etc-modules", "/etc/modules");
  const auto files = machine.look().files;
  REQUIRE(files.size() == 1);
  REQUIRE(files[0].lines.size() == 1);
  CHECK(files[0].lines[0].number == 7);
  CHECK(files[0].lines[0].text == "ib_umad");
  CHECK(files[0].lines[0].by_hand.find("carriage return") != std::string::npos);
}

TEST_CASE("a loop over names, and a parameter") {
  const FieldMachine machine;
  machine.has("F06-rdma-exclusive.service", "/etc/systemd/system/rdma-exclusive.service");
  machine.has("F06-rdma-exclusive.sh", "/usr/local/sbin/rdma-exclusive.sh");
  CHECK(machine.lines_of("/usr/local/sbin/rdma-exclusive.sh") ==
        Lines{"4: the module that it loads or unloads is named elsewhere: vmw_pvrdma is in line 3",
              "8: it sets a parameter: in its place write `options ib_core netns_mode=0` into a "
              "file in /etc/modprobe.d",
              "9: the script is left as it is: line 4, which stays, unloads modules",
              "10: the script is left as it is: line 4, which stays, unloads modules"});
}

TEST_CASE("a unit that reloads when it is stopped as well") {
  const FieldMachine machine;
  machine.has("F08-rdma-boot-fix.service", "/etc/systemd/system/rdma-boot-fix.service");
  CHECK(machine.lines_of("/etc/systemd/system/rdma-boot-fix.service") ==
        Lines{std::string{"8: "} + kDoesMore,
              "9: systemd runs it when the unit is stopped or reloaded (ExecStop=), whatever uses "
              "an adapter then"});
}

TEST_CASE("a crontab that reloads every five minutes") {
  const FieldMachine machine;
  const std::string path = "/var/spool/cron/crontabs/root";
  machine.has("F09-crontab.root", path);
  const std::string own = ": root's own crontab is edited by `crontab -e`";
  CHECK(machine.lines_of(path) ==
        Lines{"2" + own, "3" + own,
              "4" + own + "; cron runs it again and again (*/5 * * * *): a loop"});
}

TEST_CASE("ifupdown, sleep hooks, a power script and a dispatcher's script") {
  const FieldMachine machine;
  machine.check_hook("F10-interfaces.d-ib0", "/etc/network/interfaces.d/ib0", "7 8",
                     "it runs whenever the interface");
  machine.check_hook("F11-system-sleep-50-pvrdma", "/usr/lib/systemd/system-sleep/50-pvrdma",
                     "7 11",
                     "before a suspend the driver has to be unloaded, which the agent does not do: "
                     "keep that, with `systemctl stop pvrdma-agent` before it");
  machine.check_hook("F11-pm-sleep.d-50_restart_networking",
                     "/etc/pm/sleep.d/50_restart_networking", "10 11 15",
                     "before a suspend the driver has to be unloaded, which the agent does not do: "
                     "keep that, with `systemctl stop pvrdma-agent` before it");
  machine.check_hook("F12-resume-vm-default.d-fix-net.sh",
                     "/etc/vmware-tools/scripts/resume-vm-default.d/fix-net.sh", "5",
                     "it runs beside the agent");
  machine.check_hook("F13-dispatcher.d-99-rdma-qos", "/etc/NetworkManager/dispatcher.d/99-rdma-qos",
                     "9", "it runs whenever a link changes");
}

TEST_CASE("rules of udev: RUN, driver_override, a rule of two lines") {
  const FieldMachine machine;
  machine.check_hook("F14-99-pvrdma.rules", "/etc/udev/rules.d/99-pvrdma.rules", "2 3 5",
                     "udev runs it");
}

TEST_CASE("cloud-init's commands, and the file that blacklists the driver") {
  const FieldMachine machine;
  machine.check_hook("F15-user-data", "/var/lib/cloud/seed/nocloud/user-data", "3 9 10",
                     "cloud-init runs it");
  const Lines lines = machine.lines_of("/var/lib/cloud/seed/nocloud/user-data");
  REQUIRE(!lines.empty());
  CHECK(lines.front().ends_with("it keeps vmw_pvrdma from being loaded"));
}

TEST_CASE("a script whose bodies would be left empty is left as it is") {
  const FieldMachine machine;
  machine.has("F18-rc.local", "/etc/rc.local");
  for (const std::string& line : machine.lines_of("/etc/rc.local"))
    CHECK(line.find(": ") != std::string::npos);
  CHECK(machine.lines_of("/etc/rc.local").at(0) ==
        "11: the script is left as it is: the body that begins in line 10 would be empty without "
        "such lines");
}

TEST_CASE("init's scripts, tuned's, Slurm's, and what configurations name") {
  const std::string reload = "modprobe -r vmw_pvrdma\n";
  const auto found = [&](const Tree& tree, const std::string& path) {
    tree.program(path, reload);
    Lines list;
    for (const RecipeFile& file : find_whole_recipe(tree.root(), scope()).files) {
      CHECK(file.lines.at(0).by_hand.find("run") != std::string::npos);
      list.push_back(file.path + ": " + file.when);
    }
    CHECK(find_recipe(tree.root(), scope()).files.empty());
    return list;
  };
  for (const auto& [path, when] :
       {std::pair{"/etc/init.d/rdma-up", "run by init"},
        {"/etc/rc.d/init.d/rdma-up", "run by init"},
        {"/etc/tuned/hpc/script.sh", "run by tuned"},
        {"/etc/tuned/profiles/hpc/script.sh", "run by tuned"},
        {"/etc/slurm/prolog", "run by Slurm before or after a job"},
        {"/etc/slurm-llnl/epilog.sh", "run by Slurm before or after a job"},
        {"/etc/slurm/prolog.d/50-rdma", "run by Slurm before or after a job"},
        {"/etc/vmware-tools/poweron-vm-default", "run at suspend and resume"},
        {"/etc/vmware-tools/scripts/vmware/network", "run at suspend and resume"}}) {
    const Tree tree;
    CHECK(found(tree, path) == Lines{std::string{path} + ": " + when});
  }
  for (const auto& [path, text] :
       {std::pair{"/etc/vmware-tools/tools.conf", "[powerops]\nresume-script = /opt/again\n"},
        {"/etc/slurm/slurm.conf", "ClusterName=a\nPrologSlurmctld=/opt/other\nProlog=/opt/again\n"},
        {"/etc/tuned/hpc/tuned.conf", "[script]\nscript=/opt/again # always\n"}}) {
    const Tree tree;
    tree.file(path, text);
    const Lines lines = found(tree, "/opt/again");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("/opt/again: run "));
  }
}
