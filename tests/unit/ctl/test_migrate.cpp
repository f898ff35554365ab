// `migrate` on made-up systems: what it shows, changes and puts back.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/ctl/migrate/change.hpp"
#include "agent/ctl/migrate/edit.hpp"
#include "agent/ctl/migrate/syntax.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;
using test::Tree;

namespace {

constexpr const char* kRcLocal =
    "#!/bin/sh -e\n"
    "mount /scratch\n"
    "modprobe ib_umad\n"
    "modprobe -r vmw_pvrdma &&\n"
    "  modprobe vmw_pvrdma\n"
    "if lspci -n | grep -q 15ad:0820; then\n"
    "  modprobe vmw_pvrdma\n"
    "fi\n"
    "exit 0";  // no newline at its end

struct System {
  Tree tree;
  fake::Directory directory;

  explicit System(const std::string& rc_local = kRcLocal) {
    tree.file("/etc/rc.local", rc_local);
    ::chmod(path("/etc/rc.local").c_str(), 0754);
    const timespec times[] = {{0, UTIME_OMIT}, {1'700'000'000, 123'456'789}};
    ::utimensat(AT_FDCWD, path("/etc/rc.local").c_str(), times, 0);
  }
  [[nodiscard]] std::string path(const std::string& absolute) const {
    return (tree / absolute).string();
  }
  [[nodiscard]] struct stat status(const std::string& absolute) const {
    struct stat found {};
    ::stat(path(absolute).c_str(), &found);
    return found;
  }
  [[nodiscard]] fake::Printed run(bool apply, bool revert, bool json = false) const {
    fake::Screen screen;
    Settings settings = fake::settings(directory / "socket");
    settings.json = json;
    const int code =
        migrate(settings, screen.console, {apply, revert, (tree.root() / "/").string()});
    return {code, screen.out(), screen.err()};
  }
};

}  // namespace

TEST_CASE("migrate shows and changes nothing") {
  const System system;
  const fake::Printed shown = system.run(false, false);
  CHECK(shown.code == 1);
  CHECK(has(shown.out, "/etc/rc.local, of rc-local.service: run at every boot"));
  CHECK(has(shown.out, "the agent loads it last"));
  CHECK(!has(shown.out, "/scratch"));
  CHECK(system.tree.read("/etc/rc.local") == kRcLocal);
  const Json object = Json::parse(system.run(false, false, true).out);
  REQUIRE(object["files"].size() == 1);
  CHECK(object["files"][0]["lines"].size() == 3);
  CHECK(object["files"][0]["lines"][1]["does"] == Json{"unload-driver", "load-driver"});
}

TEST_CASE("--apply comments out the recipe and nothing else; --revert is exact") {
  const System system;
  const struct stat before = system.status("/etc/rc.local");
  CHECK(system.run(true, false).code == 0);
  CHECK(system.tree.read("/etc/rc.local") ==
        "#!/bin/sh -e\n"
        "mount /scratch\n"
        "#pvrdma-agent# modprobe ib_umad\n"
        "#pvrdma-agent# modprobe -r vmw_pvrdma &&\n"
        "#pvrdma-agent#   modprobe vmw_pvrdma\n"
        "if lspci -n | grep -q 15ad:0820; then\n"
        ": #pvrdma-agent#   modprobe vmw_pvrdma\n"
        "fi\n"
        "exit 0");
  CHECK(system.status("/etc/rc.local").st_mode == before.st_mode);
  CHECK(system.tree.read("/var/lib/pvrdma-agent/migrated/etc/rc.local") == kRcLocal);
  CHECK((system.status("/var/lib/pvrdma-agent/migrated").st_mode & 07777U) == 0700);
  CHECK(system.run(false, false).code == 0);
  CHECK(system.run(true, false).code == 0);  // again: nothing to do

  CHECK(system.run(false, true).code == 0);
  CHECK(system.tree.read("/etc/rc.local") == kRcLocal);
  const struct stat after = system.status("/etc/rc.local");
  CHECK(after.st_mode == before.st_mode);
  CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
  CHECK(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
  CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
  CHECK(has(system.run(false, true).out, "nothing was moved"));
}

TEST_CASE("what --apply makes is open to all whatever the umask, the backups are not") {
  const System system;
  const mode_t umask_before = ::umask(077);
  const int code = system.run(true, false).code;
  ::umask(umask_before);
  CHECK(code == 0);
  CHECK((system.status("/var/lib/pvrdma-agent").st_mode & 07777U) == 0755);
  CHECK((system.status("/var/lib/pvrdma-agent/migrated").st_mode & 07777U) == 0700);
}

TEST_CASE("what was changed since --apply is kept, and that is said") {
  const System system;
  CHECK(system.run(true, false).code == 0);
  system.tree.file("/etc/rc.local", "# mine\n" + system.tree.read("/etc/rc.local"));
  const fake::Printed reverted = system.run(false, true);
  CHECK(reverted.code == 0);
  CHECK(has(reverted.out, "was changed since"));
  CHECK(system.tree.read("/etc/rc.local") == std::string{"# mine\n"} + kRcLocal);
  CHECK(system.tree.read("/var/lib/pvrdma-agent/migrated/etc/rc.local") == kRcLocal);
}

TEST_CASE("a later --apply keeps the first backup, and the time in it") {
  const System system;
  const auto first = system.status("/etc/rc.local").st_mtim.tv_sec;
  CHECK(system.run(true, false).code == 0);
  CHECK(system.run(true, false).code == 0);
  CHECK(system.status("/var/lib/pvrdma-agent/migrated/etc/rc.local").st_mtim.tv_sec == first);
  system.tree.file("/etc/rc.local", system.tree.read("/etc/rc.local") + "\nmodprobe rdma_cm\n");
  CHECK(system.run(true, false).code == 0);
  CHECK(system.run(false, true).code == 0);
  CHECK(system.tree.read("/etc/rc.local") == std::string{kRcLocal} + "\nmodprobe rdma_cm\n");
}

TEST_CASE("a line that does something else is left, with why") {
  const System system{"mount /a; modprobe vmw_pvrdma\nmodprobe ib_umad\n"};
  const fake::Printed applied = system.run(true, false);
  CHECK(applied.code == 1);
  CHECK(has(applied.out, "left as it is: it also runs mount"));
  CHECK(system.tree.read("/etc/rc.local") ==
        "mount /a; modprobe vmw_pvrdma\n#pvrdma-agent# modprobe ib_umad\n");
}

TEST_CASE("a script that its own shell would not take is as it was") {
  const std::string broken = "modprobe ib_umad\nfi\n";
  const System system{broken};
  const fake::Printed applied = system.run(true, false);
  CHECK(applied.code == 2);
  CHECK(has(applied.err, "/etc/rc.local is as it was: /bin/sh -n does not take the result"));
  CHECK(system.tree.read("/etc/rc.local") == broken);
  const Tree tree;
  tree.file("/script", "echo 'no end\n");
  CHECK(!moving::check_syntax("/bin/bash", tree / "/script"));
  CHECK(moving::check_syntax("/no/such/shell", tree / "/script").error().code == ENOENT);
}

TEST_CASE("links and hard links lead to no surprise") {
  const System system;
  system.tree.directory("/etc/rc.d");
  std::filesystem::rename(system.tree / "/etc/rc.local", system.tree / "/etc/rc.d/rc.local");
  system.tree.link("/etc/rc.local", "rc.d/rc.local");
  CHECK(system.run(true, false).code == 0);
  CHECK(std::filesystem::is_symlink(system.tree / "/etc/rc.local"));
  CHECK(has(system.tree.read("/etc/rc.d/rc.local"), "#pvrdma-agent# modprobe ib_umad"));
  CHECK(system.run(false, true).code == 0);
  std::filesystem::create_hard_link(system.tree / "/etc/rc.d/rc.local", system.tree / "/other");
  const fake::Printed applied = system.run(true, false);
  CHECK(applied.code == 2);
  CHECK(has(applied.err, "Too many links"));
  CHECK(system.tree.read("/etc/rc.d/rc.local") == kRcLocal);
}

TEST_CASE("a unit for nothing but the recipe is kept from being started") {
  const System system{"exit 0\n"};
  const std::string unit = "[Service]\nType=oneshot\nExecStart=/sbin/modprobe vmw_pvrdma\n";
  const std::string drop_in = "/etc/systemd/system/up.service.d/90-pvrdma-agent-migrated.conf";
  system.tree.file("/etc/systemd/system/up.service", unit);
  system.tree.link("/etc/systemd/system/multi-user.target.wants/up.service", "../up.service");
  CHECK(system.run(false, false).code == 1);
  CHECK(system.run(true, false).code == 0);
  CHECK(system.tree.read("/etc/systemd/system/up.service") == unit);
  CHECK(has(system.tree.read(drop_in), "ConditionPathExists=!/usr/sbin/pvrdma-agent\n"));
  CHECK(system.run(false, true).code == 0);
  CHECK(!std::filesystem::exists((system.tree / drop_in).parent_path()));
  // Of one that does more, the line is commented out.
  system.tree.file("/etc/systemd/system/up.service.d/more.conf",
                   "[Service]\nExecStartPost=/usr/bin/mount /a\n");
  CHECK(system.run(true, false).code == 1);
  CHECK(system.tree.read("/etc/systemd/system/up.service") == unit);
}

TEST_CASE("what cannot be read makes the answer unknown") {
  const System system{"exit 0\n"};
  CHECK(system.run(false, false).code == 0);
  CHECK(has(system.run(false, false).out, "nothing loads or reloads vmw_pvrdma"));
  system.tree.unreadable("/etc/crontab");
  const fake::Printed shown = system.run(false, false);
  CHECK(shown.code == 3);
  CHECK(has(shown.err, "/etc/crontab"));
  system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", "nonsense\n");
  CHECK(system.run(true, false).code == 3);
}
