// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a machine in which the recipe is looked for, and their required owners.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "agent/base/text.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/probes/recipe_lines.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using namespace pvrdma::test;

TEST_CASE("the places of a machine, and the scripts that they call, one step deep") {
  const Tree tree;
  tree.file("/etc/rc.d/rc.local", "#!/bin/bash\n. /usr/local/lib/rdma.sh\n/usr/bin/true\n");
  tree.link("/etc/rc.local", "/etc/rc.d/rc.local");  // an absolute link stays below the root
  tree.file("/usr/local/lib/rdma.sh",
            "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n/opt/further.sh\n");
  tree.file("/opt/further.sh", "modprobe vmw_pvrdma\n");
  std::filesystem::permissions(tree / "/etc/rc.d/rc.local", std::filesystem::perms::owner_all);
  tree.file("/etc/cron.d/pvrdma", "@reboot root modprobe vmw_pvrdma\n");
  tree.file("/etc/modules", "# x\nloop\nvmw_pvrdma\n");
  tree.file("/etc/systemd/system/rdma-up.service", "[Service]\nExecStart=/sbin/modprobe ib_umad\n");
  tree.file("/etc/systemd/system/on.service", "[Service]\nExecStart=/opt/on.sh\n");
  tree.file("/opt/on.sh", "modprobe rdma_cm\n");
  tree.link("/etc/systemd/system/multi-user.target.wants/on.service", "../on.service");
  tree.unreadable("/etc/crontab");

  const auto found = [&] {
    Lines list;
    for (const RecipeFile& file : find_recipe(tree.root(), scope()).files)
      list.push_back(file.path + (file.in_effect ? "" : " not run") +
                     (file.by.empty() ? "" : " by " + file.by) + " of " + file.unit);
    return list;
  };
  CHECK(found() == Lines{"/usr/local/lib/rdma.sh by /etc/rc.d/rc.local of rc-local.service",
                         "/etc/cron.d/pvrdma of cron.service",
                         "/opt/on.sh by /etc/systemd/system/on.service of on.service",
                         "/etc/systemd/system/rdma-up.service not run of rdma-up.service",
                         "/etc/modules not run of "});
  const Recipe recipe = find_recipe(tree.root(), scope());
  REQUIRE(recipe.unreadable.size() == 1);
  CHECK(recipe.unreadable[0].code == ELOOP);
  CHECK(recipe.not_of_root.empty());

  tree.file("/etc/systemd/system/on.service.d/90-pvrdma-agent-migrated.conf", "[Unit]\n");
  CHECK(found().at(2) == "/opt/on.sh not run by /etc/systemd/system/on.service of on.service");
}

TEST_CASE("root's own crontab is looked at in a folder of cron's group, others' never") {
  const Tree tree;
  const std::string folder = "/var/spool/cron/crontabs";
  tree.file(folder + "/root", "@reboot modprobe vmw_pvrdma\n");
  tree.file(folder + "/user", "@reboot modprobe vmw_pvrdma\n");
  REQUIRE(::chown((tree / folder).c_str(), 0, 105) == 0);
  REQUIRE(::chmod((tree / folder).c_str(), 01730) == 0);
  const auto recipe = find_recipe(tree.root(), scope());
  REQUIRE(recipe.files.size() == 1);
  CHECK(recipe.files[0].path == folder + "/root");
  CHECK(described(recipe.files[0].lines) ==
        Lines{"1: root's own crontab is edited by `crontab -e`"});
  // A script that the crontab runs can still be edited.
  tree.file(folder + "/root", "@reboot /root/up.sh\n");
  tree.file("/root/up.sh", "modprobe vmw_pvrdma\n");
  const auto called = find_recipe(tree.root(), scope());
  REQUIRE(called.files.size() == 1);
  CHECK(called.files[0].path == "/root/up.sh");
  CHECK(described(called.files[0].lines) == Lines{"1"});
  REQUIRE(::chown((tree / (folder + "/root")).c_str(), 1000, 105) == 0);
  const auto taken = find_recipe(tree.root(), scope());
  CHECK(taken.files.empty());
  CHECK(taken.not_of_root.at(0).path == folder + "/root");
  REQUIRE(::chown((tree / (folder + "/root")).c_str(), 0, 105) == 0);
  REQUIRE(::chmod((tree / folder).c_str(), 0730) == 0);  // others can replace the file
  CHECK(find_recipe(tree.root(), scope()).files.empty());
}

TEST_CASE("a unit's drop-ins count with it") {
  const Tree tree;
  const std::string unit = "/etc/systemd/system/up.service";
  tree.file(unit, "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  CHECK(find_recipe(tree.root(), scope()).files.at(0).retires_unit);
  tree.file(unit + ".d/a.conf", "[Service]\nExecStartPost=/usr/bin/mount /a\n");
  const auto more = find_recipe(tree.root(), scope()).files.at(0);
  constexpr const char* kOthers = ": the unit or a drop-in of it has other commands, too";
  CHECK(!more.retires_unit);
  CHECK(described(more.lines) == Lines{std::string{"2"} + kOthers});
  tree.file("/etc/systemd/system/slurmd.service.d/a.conf",
            "[Service]\nExecStartPre=modprobe ib_umad\nExecStart=\nExecStart=modprobe rdma_cm\n");
  const auto drop_in = find_recipe(tree.root(), scope()).files.at(1);
  CHECK(!drop_in.retires_unit);
  CHECK(described(drop_in.lines) == Lines{std::string{"2"} + kOthers, std::string{"4"} + kOthers});
}

TEST_CASE("a unit that another one is bound to is not kept from being started") {
  const Tree tree;
  const std::string folder = "/etc/systemd/system/", drop_in = folder + "slurmd.service.d/a.conf";
  tree.file(folder + "up.service",
            "[Service]\nRemainAfterExit=yes\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  tree.link(folder + "multi-user.target.wants/up.service", "../up.service");
  const auto found = [&] { return find_recipe(tree.root(), scope()).files.at(0); };
  tree.file(drop_in, "[Unit]\nRequires=up.service\n");
  CHECK(found().retires_unit);
  for (const char* key : {"BindsTo", "Requisite"}) {
    tree.file(drop_in, "[Unit]\n" + std::string{key} + "=a.service up.service\n");
    CHECK_FALSE(found().retires_unit);
    CHECK(described(found().lines) ==
          Lines{"3: another unit is bound to it (BindsTo= or Requisite=) and would not start "
                "without it"});
  }
}

TEST_CASE("a unit that a timer starts is labelled by what the timer says") {
  const Tree tree;
  tree.file("/etc/systemd/system/up.service", "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  tree.link("/etc/systemd/system/timers.target.wants/up.timer", "../up.timer");
  const auto looked_at = [&] {
    const Recipe recipe = find_recipe(tree.root(), scope());
    REQUIRE(recipe.files.size() == 1);
    CHECK(contains(recipe.looked_at, std::string{"/etc/systemd/system/up.timer"}));
    return recipe.files[0];
  };
  tree.file("/etc/systemd/system/up.timer", "[Timer]\nOnBootSec=1min\n");
  RecipeFile file = looked_at();
  CHECK(file.when == "run by a timer after every boot");
  CHECK(touches_driver_at_boot(file));
  CHECK(file.retires_unit);
  for (const char* key : {"OnCalendar=hourly", "OnUnitActiveSec=5min", "OnUnitInactiveSec=1"}) {
    tree.file("/etc/systemd/system/up.timer",
              "[Timer]\nOnBootSec=1min\n" + std::string{key} + "\n");
    file = looked_at();
    CHECK(file.when == "run by a timer");
    CHECK_FALSE(touches_driver_at_boot(file));
    CHECK_FALSE(file.retires_unit);
    CHECK(described(file.lines) == Lines{"2: a timer starts it again and again: a loop"});
  }
  // What another unit wants is started at boot, whatever else starts it.
  tree.link("/etc/systemd/system/multi-user.target.wants/up.service", "../up.service");
  tree.remove("/etc/systemd/system/timers.target.wants/up.timer");
  CHECK(find_recipe(tree.root(), scope()).files[0].when == "run at every boot");
}

TEST_CASE("a unit runs at boot where an administrator's unit or drop-in names it") {
  const Tree tree;
  const std::string folder = "/etc/systemd/system/";
  tree.file(folder + "up.service", "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  const auto in_effect = [&] { return find_recipe(tree.root(), scope()).files.at(0).in_effect; };
  for (const char* file : {"slurmd.service.d/10.conf", "hpc.service", "hpc.target"}) {
    for (const auto& [text, starts] : {std::pair{"[Unit]\nRequires=a.service up.service\n", true},
                                       {"[Unit]\nWants=\\\n up.service\n", true},
                                       {"[Unit]\nAfter=up.service\n", false},
                                       {"[Service]\nWants=up.service\n", false}}) {
      tree.file(folder + file, text);
      CHECK(in_effect() == starts);
    }
    CHECK(contains(find_recipe(tree.root(), scope()).looked_at, folder + file));
    tree.remove(folder + file);
  }
  // Other users may not decide.
  tree.file(folder + "hpc.target", "[Unit]\nBindsTo=up.service\n");
  CHECK(in_effect());
  REQUIRE(::chown((tree / (folder + "hpc.target")).c_str(), 1000, 1000) == 0);
  CHECK_FALSE(in_effect());
}

TEST_CASE("a template runs at boot where an instance of it is enabled") {
  const Tree tree;
  const std::string folder = "/etc/systemd/system/", wants = folder + "multi-user.target.wants/";
  tree.file(folder + "up@.service", "[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  const auto found = [&] { return find_recipe(tree.root(), scope()).files.at(0); };
  tree.link(wants + "upper@ens224.service", "../upper@.service");
  tree.link(wants + "up.service", "../up.service");
  CHECK_FALSE(found().in_effect);
  CHECK(found().boot_units.empty());
  tree.link(wants + "up@ens224.service", "../up@.service");
  tree.link(wants + "up@a@b.service", "../up@.service");
  CHECK(touches_driver_at_boot(found()));
  CHECK(found().unit == "up@.service");
  CHECK(found().boot_units == Lines{"up@a@b.service", "up@ens224.service"});
  CHECK(found().retires_unit);
  // No instance is kept from being started where one does more.
  tree.file(folder + "up@ens224.service.d/a.conf", "[Service]\nExecStartPost=/usr/bin/mount /a\n");
  CHECK_FALSE(found().retires_unit);
  tree.remove(wants);
  tree.link(folder + "timers.target.wants/up@ens224.timer", "../up@.timer");
  tree.file(folder + "up@.timer", "[Timer]\nOnBootSec=1min\n");
  CHECK(found().when == "run by a timer after every boot");
  CHECK(found().boot_units == Lines{"up@ens224.service"});
}

TEST_CASE("a script counts as all that runs it says, whatever is looked at first") {
  const Tree tree;
  const std::string script = "/usr/local/sbin/rdma.sh", folder = "/etc/systemd/system/";
  const auto check = [&](const std::string& path) {
    INFO(path);
    const Recipe recipe = find_recipe(tree.root(), scope());
    REQUIRE(recipe.files.size() == 1);
    const RecipeFile& file = recipe.files[0];
    CHECK(touches_driver_at_boot(file));
    CHECK(file.when == "run at every boot");
    CHECK(file.by == folder + "up.service");
    CHECK(file.unit == "up.service");
    CHECK(described(file.lines) == Lines{"1", "2"});
  };
  tree.file(script, "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  tree.file(folder + "up.service", "[Service]\nExecStart=" + script + "\n");
  tree.link(folder + "multi-user.target.wants/up.service", "../up.service");
  // A script that is not executable, a loop of cron, and a unit that is not enabled.
  for (const auto& [path, text] :
       {std::pair{"/etc/rc.d/rc.local", script},
        {"/etc/cron.d/again", "*/10 * * * * root " + script},
        {"/etc/systemd/system/off.service", "[Service]\nExecStart=" + script}}) {
    tree.file(path, text + "\n");
    check(path);
    tree.remove(path);
  }
  // Another name of the unit, by which it is not enabled.
  tree.link(folder + "another.service", "up.service");
  check("another.service");
  tree.remove(folder + "another.service");
  // A script that its own place does not run.
  tree.file("/etc/rc.local", "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
  tree.file(folder + "up.service", "[Service]\nExecStart=/bin/sh /etc/rc.local\n");
  check("/etc/rc.local");
}

TEST_CASE("a unit that a suspend or a shutdown starts does not run at boot, and stays") {
  const Tree tree;
  const std::string folder = "/etc/systemd/system/";
  tree.file(folder + "away.service", "[Service]\nExecStart=/sbin/modprobe -r vmw_pvrdma\n");
  for (const char* target : {"sleep.target", "systemd-suspend.service", "kexec.target"}) {
    CAPTURE(target);
    const std::string link = folder + target + ".wants/away.service";
    tree.link(link, "../away.service");
    const RecipeFile file = find_recipe(tree.root(), scope()).files.at(0);
    CHECK(file.when == kRunAtSleep);
    CHECK_FALSE(touches_driver_at_boot(file));
    CHECK_FALSE(file.retires_unit);
    CHECK(file.lines.at(0).by_hand.find("keep that") != std::string::npos);
    tree.remove(link);
  }
  tree.link(folder + "sleep.target.wants/away.service", "../away.service");
  tree.link(folder + "multi-user.target.wants/away.service", "../away.service");
  CHECK(touches_driver_at_boot(find_recipe(tree.root(), scope()).files.at(0)));
}

TEST_CASE("a unit that runs after a resume is not one that unloads before a suspend") {
  const Tree tree;
  const std::string unit = "/etc/systemd/system/again.service";
  tree.link("/etc/systemd/system/suspend.target.wants/again.service", "../again.service");
  const auto with = [&](const std::string& order) {
    tree.file(unit, "[Unit]\n" + order + "\n[Service]\nExecStart=/sbin/modprobe vmw_pvrdma\n");
    return find_recipe(tree.root(), scope()).files.at(0);
  };
  for (const char* order : {"Before=sleep.target", "After=sleep.target", "After=reboot.target"})
    CHECK(with(order).when == kRunAtSleep);
  for (const char* order : {"After=suspend.target", "After=a.service systemd-suspend.service"}) {
    const RecipeFile file = with(order);
    CHECK(file.when == "run after a resume");
    CHECK_FALSE(touches_driver_at_boot(file));
    CHECK_FALSE(file.retires_unit);
    CHECK(described(file.lines) ==
          Lines{"4: it runs beside the agent, which looks at the ports after a resume itself"});
  }
  // The unit does no work before a suspend either where it runs at boot as well.
  tree.link("/etc/systemd/system/multi-user.target.wants/again.service", "../again.service");
  CHECK(with("After=suspend.target").retires_unit);
  CHECK_FALSE(with("Before=sleep.target").retires_unit);
}

TEST_CASE("scripts of modules of Enterprise Linux run at boot") {
  const Tree tree;
  for (const char* path : {"/etc/sysconfig/modules/rdma.modules", "/etc/rc.modules"}) {
    CAPTURE(path);
    tree.file(path, "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
    std::filesystem::permissions(tree / path, std::filesystem::perms::owner_all);
    const RecipeFile file = find_recipe(tree.root(), scope()).files.at(0);
    CHECK(file.path == path);
    CHECK(file.unit == "loadmodules.service");
    CHECK(touches_driver_at_boot(file));
    tree.remove(path);
  }
}
