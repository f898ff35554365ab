// SPDX-License-Identifier: GPL-2.0-or-later
// `migrate` on made-up systems: the lines it shows, the changes it makes and undoes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/tools/migrate/change.hpp"
#include "agent/tools/migrate/edit.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tools/migrate/migrate_system.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;
using test::MigrateSystem;
using test::Tree;

namespace {

constexpr const char* kRcLocal =
    "#!/bin/sh -e\n"
    "mount /scratch\n"
    "modprobe ib_umad\n"
    "modprobe -r vmw_pvrdma && modprobe vmw_pvrdma\n"
    "if lspci -n | grep -q 15ad:0820; then\n"
    "  modprobe vmw_pvrdma\n"
    "  echo there\n"
    "fi\n"
    "exit 0";  // no newline at its end

}  // namespace

TEST_CASE("migrate shows and changes nothing") {
  const MigrateSystem system{kRcLocal};
  const fake::Printed shown = system.shown();
  CHECK(shown.code == 1);
  CHECK(has(shown.out, "/etc/rc.local, of rc-local.service: run at every boot"));
  CHECK(has(shown.out, "  3     modprobe ib_umad\n        the agent does this"));
  CHECK(!has(shown.out, "/scratch"));
  CHECK(system.tree.read("/etc/rc.local") == kRcLocal);
  const Json object = Json::parse(system.run(false, false, true).out);
  REQUIRE(object["files"].size() == 1);
  CHECK(object["files"][0]["lines"].size() == 3);
  CHECK(object["files"][0]["lines"][1]["line"] == 4);
  CHECK(object["files"][0]["lines"][1]["kind"] == "driver");
  CHECK(object["files"][0]["lines"][1]["moved_by_apply"] == true);
}

TEST_CASE("--apply comments out the recipe and nothing else; --revert is exact") {
  const MigrateSystem system{kRcLocal};
  const struct stat before = system.status("/etc/rc.local");
  CHECK(system.applied().code == 0);
  CHECK(system.tree.read("/etc/rc.local") ==
        "#!/bin/sh -e\n"
        "mount /scratch\n"
        "#pvrdma-agent# modprobe ib_umad\n"
        "#pvrdma-agent# modprobe -r vmw_pvrdma && modprobe vmw_pvrdma\n"
        "if lspci -n | grep -q 15ad:0820; then\n"
        "#pvrdma-agent#   modprobe vmw_pvrdma\n"
        "  echo there\n"
        "fi\n"
        "exit 0");
  CHECK(system.status("/etc/rc.local").st_mode == before.st_mode);
  CHECK(system.tree.read("/var/lib/pvrdma-agent/migrated/etc/rc.local") == kRcLocal);
  CHECK((system.status("/var/lib/pvrdma-agent/migrated").st_mode & 07777U) == 0700);
  CHECK(system.shown().code == 0);
  CHECK(system.applied().code == 0);  // the second time there is nothing to do

  CHECK(system.reverted().code == 0);
  CHECK(system.tree.read("/etc/rc.local") == kRcLocal);
  const struct stat after = system.status("/etc/rc.local");
  CHECK(after.st_mode == before.st_mode);
  CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
  CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
  CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
  CHECK(has(system.reverted().out, "nothing was moved"));
}

TEST_CASE("whatever the umask, all may read the files of --apply, but not the backups") {
  const MigrateSystem system{kRcLocal};
  const mode_t umask_before = ::umask(077);
  const int code = system.applied().code;
  ::umask(umask_before);
  CHECK(code == 0);
  CHECK((system.status("/var/lib/pvrdma-agent").st_mode & 07777U) == 0755);
  CHECK((system.status("/var/lib/pvrdma-agent/migrated").st_mode & 07777U) == 0700);
}

TEST_CASE("changes since --apply are kept, and reported") {
  const MigrateSystem system{kRcLocal};
  CHECK(system.applied().code == 0);
  system.tree.file("/etc/rc.local", "# mine\n" + system.tree.read("/etc/rc.local"));
  const fake::Printed reverted = system.reverted();
  CHECK(reverted.code == 0);
  CHECK(has(reverted.out, "was changed since"));
  CHECK(system.tree.read("/etc/rc.local") == std::string{"# mine\n"} + kRcLocal);
  CHECK(system.tree.read("/var/lib/pvrdma-agent/migrated/etc/rc.local") == kRcLocal);
}

TEST_CASE("a file that changes after the look is not edited by the old line numbers") {
  const MigrateSystem system{kRcLocal};
  const auto files = probes::find_recipe(system.tree.root(), {}).files;
  REQUIRE(files.size() == 1);
  for (const std::string& now : {std::string{"#!/bin/sh -e\nmount /a\n"} + kRcLocal,
                                 std::string{"modprobe ib_umad\n"}, std::string{}}) {
    system.tree.file("/etc/rc.local", now);
    const auto change = migration::apply(system.tree.root(), files[0]);
    REQUIRE(change);
    CHECK(has(migration::failures({*change}).at(0), "run the command again"));
    CHECK(system.tree.read("/etc/rc.local") == now);
    CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
  }
}

TEST_CASE("a file removed since --apply stays removed, and its backup is named") {
  const MigrateSystem system{kRcLocal};
  CHECK(system.applied().code == 0);
  system.tree.remove("/etc/rc.local");
  for (int time = 0; time < 2; ++time) {
    const fake::Printed reverted = system.reverted();
    CHECK(reverted.code == 0);
    CHECK(reverted.err.empty());
    CHECK(has(reverted.out, "/etc/rc.local: was removed since"));
    CHECK(has(reverted.out, "/var/lib/pvrdma-agent/migrated/etc/rc.local"));
  }
}

TEST_CASE("a later --apply keeps the first backup, and the time in it") {
  const MigrateSystem system{kRcLocal};
  const auto first = system.status("/etc/rc.local").st_mtim.tv_sec;
  CHECK(system.applied().code == 0);
  CHECK(system.applied().code == 0);
  CHECK(system.status("/var/lib/pvrdma-agent/migrated/etc/rc.local").st_mtim.tv_sec == first);
  system.tree.file("/etc/rc.local", system.tree.read("/etc/rc.local") + "\nmodprobe rdma_cm\n");
  CHECK(system.applied().code == 0);
  CHECK(system.reverted().code == 0);
  CHECK(system.tree.read("/etc/rc.local") == std::string{kRcLocal} + "\nmodprobe rdma_cm\n");
}

TEST_CASE("a line that does something else stays, with the reason") {
  const MigrateSystem system{"mount /a; modprobe vmw_pvrdma\nmodprobe ib_umad\n"};
  const fake::Printed applied = system.applied();
  CHECK(applied.code == 1);
  CHECK(has(applied.out, "by hand: it does more than load or unload these modules"));
  CHECK(system.tree.read("/etc/rc.local") ==
        "mount /a; modprobe vmw_pvrdma\n: #pvrdma-agent# modprobe ib_umad\n");
}

TEST_CASE("a script whose result the shell rejects is unchanged, and a person has to edit it") {
  for (const std::string script :
       {"modprobe ib_umad\nfi\n", "#!/bin/bash\nmodprobe ib_umad\nfi\n"}) {
    const MigrateSystem system{script};
    const fake::Printed applied = system.applied();
    CHECK(applied.code == 1);
    const std::string shell = has(script, "bash") ? "/bin/bash" : "/bin/sh";
    CHECK(has(applied.out,
              "/etc/rc.local: by hand: unchanged, because " + shell + " -n rejects the result"));
    CHECK(system.tree.read("/etc/rc.local") == script);
    CHECK(system.reverted().code == 0);
    CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
  }
  const Tree tree;
  tree.file("/script", "echo 'no end\n");
  const Fd script{::open((tree / "/script").c_str(), O_RDONLY)};
  CHECK(migration::check_syntax("/bin/bash", script).error().code == 0);
  CHECK(migration::check_syntax("/usr/bin/true", script).error().code == EINVAL);
}

TEST_CASE("the shell that checks a script gets no environment") {
  const MigrateSystem system{"#!/bin/bash\nmodprobe vmw_pvrdma\n"};
  system.tree.file("/env", "touch " + system.path("/ran") + "\n");
  ::setenv("BASH_ENV", system.path("/env").c_str(), 1);
  ::setenv("SHELLOPTS", "xtrace", 1);
  CHECK(system.applied().code == 0);
  ::unsetenv("BASH_ENV");
  ::unsetenv("SHELLOPTS");
  CHECK(!std::filesystem::exists(system.path("/ran")));
}

TEST_CASE("symbolic and hard links are not followed") {
  const MigrateSystem system{kRcLocal};
  system.tree.directory("/etc/rc.d");
  std::filesystem::rename(system.tree / "/etc/rc.local", system.tree / "/etc/rc.d/rc.local");
  system.tree.link("/etc/rc.local", "rc.d/rc.local");
  CHECK(system.applied().code == 0);
  CHECK(std::filesystem::is_symlink(system.tree / "/etc/rc.local"));
  CHECK(has(system.tree.read("/etc/rc.d/rc.local"), "#pvrdma-agent# modprobe ib_umad"));
  CHECK(system.reverted().code == 0);
  std::filesystem::create_hard_link(system.tree / "/etc/rc.d/rc.local", system.tree / "/other");
  const fake::Printed applied = system.applied();
  CHECK(applied.code == 2);
  CHECK(has(applied.err, "Too many links"));
  CHECK(system.tree.read("/etc/rc.d/rc.local") == kRcLocal);
}

TEST_CASE("a unit with only the recipe is kept from being started") {
  const MigrateSystem system{"exit 0\n"};
  const std::string unit = "[Service]\nType=oneshot\nExecStart=/sbin/modprobe vmw_pvrdma\n";
  const std::string drop_in = "/etc/systemd/system/up.service.d/90-pvrdma-agent-migrated.conf";
  system.tree.file("/etc/systemd/system/up.service", unit);
  system.tree.link("/etc/systemd/system/multi-user.target.wants/up.service", "../up.service");
  CHECK(system.shown().code == 1);
  CHECK(system.applied().code == 0);
  CHECK(system.tree.read("/etc/systemd/system/up.service") == unit);
  CHECK(has(system.tree.read(drop_in), "ConditionPathExists=!/usr/sbin/pvrdma-agent\n"));
  CHECK(system.reverted().code == 0);
  CHECK(!std::filesystem::exists((system.tree / drop_in).parent_path()));
  // A unit that does more is left to a person.
  system.tree.file("/etc/systemd/system/up.service.d/more.conf",
                   "[Service]\nExecStartPost=/usr/bin/mount /a\n");
  CHECK(system.applied().code == 1);
  CHECK(system.tree.read("/etc/systemd/system/up.service") == unit);
}

TEST_CASE("an unreadable file makes the answer unknown") {
  const MigrateSystem system{"exit 0\n"};
  CHECK(system.shown().code == 0);
  CHECK(has(system.shown().out, "nothing loads or reloads vmw_pvrdma"));
  system.tree.unreadable("/etc/crontab");
  const fake::Printed shown = system.shown();
  CHECK(shown.code == 3);
  CHECK(has(shown.err, "/etc/crontab"));
  system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "nonsense\n");
  CHECK(system.applied().code == 3);
}

TEST_CASE("with an invalid configuration migrate shows and restores, but moves nothing") {
  const MigrateSystem system{kRcLocal};
  const std::string file = "/etc/pvrdma-agent/pvrdma-agent.toml";
  system.tree.file(file, "[modules]\nreload = \"sometimes\"\n");
  const fake::Printed shown = system.shown();
  CHECK(shown.code == 1);
  CHECK(has(shown.out, "  3     modprobe ib_umad\n"));
  CHECK(has(shown.err, "modules.reload = \"sometimes\""));
  const Json object = Json::parse(system.run(false, false, true).out);
  CHECK(object["files"].size() == 1);
  CHECK(has(object["unreadable"][0], "modules.reload = \"sometimes\""));
  const fake::Printed refused = system.applied();
  CHECK(refused.code == 3);
  CHECK(has(refused.err, "nothing was changed: "));
  CHECK(has(refused.err, "modules.reload = \"sometimes\""));
  CHECK(system.tree.read("/etc/rc.local") == kRcLocal);
  system.tree.remove(file);
  CHECK(system.applied().code == 0);
  system.tree.file(file, "nonsense\n");
  CHECK(system.shown().code == 3);  // lines of other modules may be left
  const fake::Printed reverted = system.reverted();
  CHECK(reverted.code == 0);
  CHECK(reverted.err.empty());
  CHECK(system.tree.read("/etc/rc.local") == kRcLocal);
}

TEST_CASE("a file's text reaches the terminal without control characters") {
  const MigrateSystem system{"modprobe vmw_pvrdma; \x1b[2J\x07\n"};
  const fake::Printed shown = system.shown();
  CHECK(has(shown.out, "\\x1b[2J\\x07"));
  CHECK(!has(shown.out, "\x1b"));
}
