// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of several commands, whose words say nothing about each other; options of module tools.
#include <string>

#include "tests/unit/catch.hpp"
#include "tests/unit/probes/recipe_lines.hpp"

using namespace pvrdma::probes;
using pvrdma::test::described;
using pvrdma::test::Lines;
using pvrdma::test::scope;

namespace {

void check_kind(LineKind kind, const Lines& lines) {
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(look_at_command(line, scope()).kind == kind);
  }
}

}  // namespace

TEST_CASE("a module tool's command ends before the words of the next") {
  for (const char* line : {"modprobe ib_umad && rm -rf /run/x", "modprobe ib_umad; ls -r",
                           "modprobe ib_umad | logger -tr --remove"}) {
    INFO(line);
    const CommandLook look = look_at_command(line, scope());
    CHECK(look.kind == LineKind::Driver);
    CHECK_FALSE(look.unloads);
    CHECK_FALSE(look.touches_driver);
  }
  for (const char* line :
       {"modprobe ib_umad 2>&1 -r", "modprobe ib_umad &>/dev/null --remove",
        "modprobe nfs; modprobe -r ib_umad", "modprobe -r ib_umad; modprobe ib_umad"})
    CHECK(look_at_command(line, scope()).unloads);
  const std::string script = "modprobe ib_umad && rm -rf /run/x\nmodprobe vmw_pvrdma\n";
  CHECK(described(look_at(RecipeForm::Script, script, scope()).lines) ==
        Lines{std::string{"1: "} + kDoesMore, "2"});
  check_kind(LineKind::Other, {"modprobe nfsd && dmesg | grep vmw_pvrdma"});
  // The names may come from another command.
  check_kind(LineKind::Driver, {"echo vmw_pvrdma | xargs modprobe -r",
                                "modprobe -r $m && modprobe nfs; m=vmw_pvrdma"});
}

TEST_CASE("a module tool that only shows something loads nothing") {
  check_kind(LineKind::Other, {"modprobe -n vmw_pvrdma", "/sbin/modprobe -nv vmw_pvrdma",
                               "modprobe --show-depends vmw_pvrdma | wc -l",
                               "modprobe -c | grep vmw_pvrdma", "modprobe vmw_pvrdma --dry-run"});
  check_kind(LineKind::Driver, {"modprobe -n vmw_pvrdma && modprobe vmw_pvrdma",
                                "modprobe -C /etc/n vmw_pvrdma", "modprobe --first-time rdma-cm"});
}

TEST_CASE("crontabs: cronie's minus sign before the times") {
  const auto look = look_at(RecipeForm::SystemCrontab,
                            "-@reboot root /opt/a.sh\n-@reboot root modprobe vmw_pvrdma\n"
                            "-*/5 * * * * root modprobe vmw_pvrdma\n",
                            scope());
  CHECK(described(look.lines) ==
        Lines{"2", "3: cron runs it again and again (*/5 * * * *): a loop"});
  REQUIRE(look.scripts.contains("/opt/a.sh"));
  CHECK(look.scripts.at("/opt/a.sh").at_boot);
}

TEST_CASE("a service manager's command ends before the words of the next") {
  check_kind(LineKind::Other, {"systemctl restart slurmd; rdma system set netns exclusive",
                               "systemctl restart a && logger -t rdma b"});
  check_kind(LineKind::Port, {"systemctl restart a; rdma link"});
  check_kind(LineKind::Driver, {"systemctl stop slurmd && systemctl restart rdma; sleep 1",
                                "sh -c 'systemctl restart slurmd rdma'"});
}
