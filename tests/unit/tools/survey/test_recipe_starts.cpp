// SPDX-License-Identifier: GPL-2.0-or-later
// What starts a unit or a crontab of the recipe, and what does not.
#include "agent/tools/survey/recipe.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/probes/recipe_lines.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using namespace pvrdma::test;

TEST_CASE("a timer or path unit starts the unit that it names, a rule of udev those it wants") {
  const Tree tree;
  const std::string folder = "/etc/systemd/system/", wants = folder + "timers.target.wants/";
  tree.file(folder + "fix.service", "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  const auto found = [&] { return find_whole_recipe(tree.root(), scope()).files.at(0); };
  const auto starts = [&](const std::string& when, bool at_boot) {
    const RecipeFile file = found();
    CHECK(file.when == when);
    CHECK(file.in_effect);
    CHECK(touches_driver_at_boot(file) == at_boot);
    CHECK(file.retires_unit == at_boot);
  };
  tree.link(wants + "watch.timer", "../watch.timer");
  CHECK_FALSE(found().in_effect);
  tree.file(folder + "watch.timer", "[Timer]\nOnUnitActiveSec=5min\nUnit=fix.service\n");
  starts("run by a timer", false);
  tree.file(folder + "watch.timer", "[Timer]\nOnBootSec=1min\nUnit=fix.service\n");
  starts("run by a timer after every boot", true);
  // The timer does not start the unit of its own name then.
  tree.file(folder + "watch.service", "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  CHECK_FALSE(find_recipe(tree.root(), scope()).files.at(1).in_effect);
  tree.remove(folder + "watch.service");
  tree.remove(folder + "watch.timer");
  tree.link(wants + "watch.path", "../watch.path");
  tree.file(folder + "watch.path", "[Path]\nPathChanged=/run/a\nUnit=fix.service\n");
  starts("run when udev or a path unit starts it", false);
  CHECK(described(found().lines) ==
        Lines{"2: udev or a path unit starts it at events, beside the agent"});
  tree.remove(folder + "watch.path");
  CHECK_FALSE(found().in_effect);
  const std::string rules = "/etc/udev/rules.d/90-rdma.rules";
  for (const char* key :
       {"ENV{SYSTEMD_WANTS}==\"fix.service\"", "# ENV{SYSTEMD_WANTS}=\"fix.service\"",
        "ENV{SYSTEMD_USER_WANTS}=\"fix.service\""}) {
    tree.file(rules, std::string{key} + "\n");
    CHECK_FALSE(found().in_effect);
  }
  for (const char* key :
       {"ENV{SYSTEMD_WANTS}+=\"fix.service\"", "ENV{SYSTEMD_WANTS} = \"a.service fix.service\""}) {
    tree.file(rules, "ACTION==\"add\", TAG+=\"systemd\", \\\n  " + std::string{key} + "\n");
    starts("run when udev or a path unit starts it", false);
  }
  // A file of that name in /etc takes the place of a package's.
  tree.file("/usr/lib/udev/rules.d/90-rdma.rules", tree.read(rules));
  tree.file(rules, "");
  CHECK_FALSE(found().in_effect);
}

TEST_CASE("Debian's cron takes no file whose name has a dot") {
  const Tree tree;
  const auto paths = [&] {
    Lines list;
    for (const RecipeFile& file : find_whole_recipe(tree.root(), scope()).files)
      list.push_back(file.path);
    return list;
  };
  const Lines named{"/etc/cron.d/pvrdma.disabled", "/etc/cron.daily/rdma.sh"};
  tree.file(named[0], "@reboot root modprobe vmw_pvrdma\n");
  tree.program(named[1], "modprobe vmw_pvrdma\n");
  CHECK(paths() == named);
  tree.file("/usr/sbin/cron", "");  // also SUSE's, which is cronie
  CHECK(paths() == named);
  tree.file("/etc/debian_version", "12.5\n");
  CHECK(paths().empty());
  tree.remove("/usr/sbin/cron");  // systemd-cron takes other names
  CHECK(paths() == named);
  tree.file("/usr/sbin/cron", "");
  tree.file("/etc/cron.d/pvRDMA_1-a", "@reboot root modprobe vmw_pvrdma\n");
  CHECK(paths() == Lines{"/etc/cron.d/pvRDMA_1-a"});
}

TEST_CASE("a script that a sleep hook runs as well is not edited") {
  const Tree tree;
  const std::string script = "/usr/local/sbin/rdma.sh";
  const std::string hook = "/usr/lib/systemd/system-sleep/rdma";
  tree.file(script,
            "case $1 in\nstart)\n  modprobe vmw_pvrdma\n  ;;\nstop)\n  modprobe -r vmw_pvrdma\n"
            "  ;;\nesac\n");
  tree.program("/etc/rc.local", script + " start\n");
  const auto found = [&] {
    const auto files = find_whole_recipe(tree.root(), scope()).files;
    REQUIRE(files.size() == 1);
    CHECK(touches_driver_at_boot(files[0]));
    return described(files[0].lines);
  };
  CHECK(found() == Lines{"3", "6"});
  tree.file(hook, "case $1 in\npre) " + script + " stop ;;\nesac\n");  // not executable
  CHECK(found() == Lines{"3", "6"});
  tree.program(hook, tree.read(hook));
  for (const std::string& line : found())
    CHECK(line.find(": it is run at suspend or shutdown as well") != std::string::npos);
}

TEST_CASE("a script that a unit runs when it stops as well is not edited") {
  const Tree tree;
  const std::string unit = "/etc/systemd/system/up.service";
  const std::string start = "ExecStart=/opt/up.sh start\n", stop = "ExecStop=/opt/up.sh stop\n";
  tree.link("/etc/systemd/system/multi-user.target.wants/up.service", "../up.service");
  tree.file("/opt/up.sh", "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  const auto found = [&](const std::string& commands) {
    tree.file(unit, "[Service]\n" + commands);
    const RecipeFile file = find_recipe(tree.root(), scope()).files.at(0);
    CHECK(touches_driver_at_boot(file));
    return file.lines.at(0).by_hand;
  };
  CHECK(found(start).empty());
  const std::string why = "systemd runs it when the unit is stopped";
  for (const std::string& commands : {start + stop, stop + start})
    CHECK(found(commands).find(why) == 0);
  tree.file("/etc/systemd/system/up.service.d/stop.conf", "[Service]\n" + stop);
  CHECK(found(start).find(why) == 0);
  tree.program("/etc/rc.local", "/opt/up.sh start\n");
  CHECK(found("").find(why) == 0);
}

TEST_CASE("a unit that a suspend starts as well is not kept from being started") {
  const Tree tree;
  const std::string folder = "/etc/systemd/system/";
  tree.file(folder + "up.service", "[Service]\nExecStart=/sbin/modprobe -r vmw_pvrdma\n");
  tree.link(folder + "multi-user.target.wants/up.service", "../up.service");
  const auto found = [&] { return find_whole_recipe(tree.root(), scope()).files.at(0); };
  CHECK(found().retires_unit);
  tree.link(folder + "sleep.target.wants/up.service", "../up.service");
  CHECK(touches_driver_at_boot(found()));
  CHECK_FALSE(found().retires_unit);
  CHECK(found().lines.at(0).by_hand.find("it is run at suspend") == 0);
  // A template's instance, and a script that the unit runs.
  tree.remove(folder + "sleep.target.wants");
  tree.file(folder + "up@.service", "[Service]\nExecStart=/opt/up.sh %i\n");
  tree.file("/opt/up.sh", "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  tree.remove(folder + "up.service");
  tree.link(folder + "multi-user.target.wants/up@a.service", "../up@.service");
  CHECK(described(found().lines) == Lines{"1", "2"});
  tree.link(folder + "suspend.target.wants/up@b.service", "../up@.service");
  CHECK(found().lines.at(0).by_hand.find("it is run at suspend") == 0);
}
