// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever other users have prepared, `migrate` must not open or run their files, write in folders
// that they can write, leave the root, or comment out the recipe without an agent to replace it.
#include <sys/inotify.h>

#include <array>
#include <filesystem>
#include <string>

#include "agent/base/handle.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tools/migrate/migrate_system.hpp"

using namespace pvrdma;
using pvrdma::test::has;
using test::MigrateSystem;
using test::Tree;

namespace {

constexpr uid_t kUser = 1000;
constexpr const char* kRecipe = "#!/bin/sh\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n";

// Notices when one of the files is opened.
class OpenWatch {
 public:
  OpenWatch() : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}
  void add(const std::string& path) const {
    REQUIRE(::inotify_add_watch(fd_.get(), path.c_str(), IN_OPEN) >= 0);
  }
  [[nodiscard]] bool saw_any() const {
    std::array<char, 4096> events{};
    return ::read(fd_.get(), events.data(), events.size()) > 0;
  }

 private:
  Fd fd_;
};

// A user's home with a script of the recipe. Its #! line names the user's own "bash", which leaves
// a mark when it is run.
struct UserHome {
  const MigrateSystem& system;
  OpenWatch watch;

  explicit UserHome(const MigrateSystem& of) : system(of) {
    system.tree.program("/home/user/bash", "touch " + system.path("/ran"));
    system.tree.program("/home/user/up.sh", "");
    system.tree.file("/home/user/up.sh", "#!" + system.path("/home/user/bash") +
                                             "\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
    for (const char* own : {"/home/user", "/home/user/bash", "/home/user/up.sh"})
      system.give_to(own, kUser);
    watch.add(system.path("/home/user/bash"));
    watch.add(system.path("/home/user/up.sh"));
  }
  [[nodiscard]] bool was_touched() const {
    return watch.saw_any() || std::filesystem::exists(system.path("/ran"));
  }
};

}  // namespace

TEST_CASE("a user's crontab, script and shell are neither opened nor run") {
  const MigrateSystem system{"#!/bin/sh\nexit 0\n"};
  const UserHome home{system};
  for (const char* folder : {"/var/spool/cron/crontabs", "/var/spool/cron"}) {
    const std::string crontab = std::string{folder} + "/user";
    system.tree.file(crontab, "@reboot /home/user/up.sh\n");
    system.give_to(crontab, kUser);
    home.watch.add(system.path(crontab));
  }
  CHECK(system.applied().code == 0);
  CHECK(!home.was_touched());
}

TEST_CASE("a user's script that root's rc.local runs is named, and not opened") {
  const MigrateSystem system{"#!/bin/sh\n/home/user/up.sh\n"};
  const UserHome home{system};
  const fake::Printed applied = system.applied();
  CHECK(!home.was_touched());
  CHECK(applied.code == 1);
  CHECK(has(applied.out, "/home/user/up.sh"));
  CHECK(has(applied.out, "run by /etc/rc.local"));
  CHECK(has(applied.out, "belongs to uid 1000"));
}

TEST_CASE("no interpreter that a file names is run") {
  const MigrateSystem system{"#!/bin/sh\nexit 0\n"};
  const UserHome home{system};
  system.tree.file("/etc/rc.local",
                   "#!" + system.path("/home/user/bash") + "\nmodprobe vmw_pvrdma\n");
  CHECK(system.applied().code == 0);  // checked by /bin/bash
  CHECK(!home.was_touched());
  CHECK(has(system.tree.read("/etc/rc.local"), "#pvrdma-agent# modprobe"));
}

TEST_CASE("links of an image to the host change nothing on the host") {
  const Tree host;
  host.file("/rc.local", kRecipe);
  host.directory("/rc.d");
  host.file("/rc.d/rc.local", kRecipe);
  host.directory("/state");
  const auto path_on_host = [&](const char* name) { return (host / name).string(); };
  {
    const MigrateSystem system{""};
    system.tree.remove("/etc/rc.local");
    system.tree.link("/etc/rc.local", path_on_host("/rc.local"));
    system.tree.link("/etc/rc.d", path_on_host("/rc.d"));
    CHECK(system.applied().code == 0);
  }
  const MigrateSystem system{kRecipe};
  system.tree.link("/var/lib/pvrdma-agent", path_on_host("/state"));
  CHECK(system.applied().code == 2);
  CHECK(system.tree.read("/etc/rc.local") == kRecipe);
  // An earlier --apply would have left them so.
  host.file("/state/migrated/etc/rc.local", "changed\n");
  static_cast<void>(system.reverted());
  CHECK(system.tree.read("/etc/rc.local") == kRecipe);
  CHECK(host.read("/rc.local") == kRecipe);
  CHECK(host.read("/rc.d/rc.local") == kRecipe);
  CHECK(host.read("/state/migrated/etc/rc.local") == "changed\n");
  for (const auto& entry : std::filesystem::directory_iterator(host / "/rc.d"))
    CHECK(entry.path().filename() == "rc.local");
}

TEST_CASE("a unit's drop-in folder that is a link to the host stays empty") {
  const Tree host;
  const MigrateSystem system{"exit 0\n"};
  system.tree.file("/etc/systemd/system/up.service",
                   "[Service]\nType=oneshot\nExecStart=/sbin/modprobe vmw_pvrdma\n");
  system.tree.link("/etc/systemd/system/multi-user.target.wants/up.service", "../up.service");
  system.tree.link("/etc/systemd/system/up.service.d", (host / "/").string());
  CHECK(system.applied().code == 2);
  CHECK(std::filesystem::is_empty(host / "/"));
}

TEST_CASE("nothing is written in a folder that others can write") {
  const MigrateSystem system{kRecipe};
  ::chmod(system.path("/etc").c_str(), 0777);
  const fake::Printed applied = system.applied();
  CHECK(applied.code != 0);
  CHECK(system.tree.read("/etc/rc.local") == kRecipe);
  ::chmod(system.path("/etc").c_str(), 0755);
  system.give_to("/etc/rc.local", kUser);
  CHECK(system.applied().code == 1);
  CHECK(system.tree.read("/etc/rc.local") == kRecipe);
  system.give_to("/etc/rc.local", 0);
  system.tree.directory("/var/lib/pvrdma-agent/migrated");
  system.give_to("/var/lib/pvrdma-agent/migrated", kUser);
  CHECK(system.applied().code == 3);
  CHECK(system.tree.read("/etc/rc.local") == kRecipe);
}

TEST_CASE("without an installed and enabled agent the recipe stays") {
  const MigrateSystem system{kRecipe};
  const auto refuses = [&](const char* why) {
    const fake::Printed applied = system.applied();
    CHECK(applied.code == 3);
    CHECK(has(applied.err, why));
    CHECK(system.tree.read("/etc/rc.local") == kRecipe);
    CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
    CHECK(system.shown().code == 1);  // it only looks
  };
  system.tree.link("/etc/systemd/system/pvrdma-agent-executor.socket", "/dev/null");
  refuses("pvrdma-agent-executor.socket is masked");
  system.tree.remove("/etc/systemd/system/pvrdma-agent-executor.socket");
  system.tree.remove("/etc/systemd/system/multi-user.target.wants/pvrdma-agent.service");
  refuses("pvrdma-agent.service is not enabled");
  system.tree.link("/etc/systemd/system/pvrdma-agent.service", "/dev/null");
  refuses("pvrdma-agent.service is masked");
  system.tree.remove("/etc/systemd/system/pvrdma-agent.service");
  system.tree.remove("/usr/lib/systemd/system/pvrdma-agent.service");
  refuses("no pvrdma-agent.service");
  system.tree.remove("/usr/sbin/pvrdma-agent");
  refuses("no /usr/sbin/pvrdma-agent");
}

TEST_CASE("a file's name adds nothing to the offered configuration") {
  const MigrateSystem system{"#!/bin/sh\nmodprobe vmw_pvrdma\nnetplan apply\n"};
  system.tree.file("/etc/netplan/\n[[adapter]]\nmanage = \"agent\"\n\x1b[2J.yaml",
                   "network:\n  ethernets:\n    ens226:\n      mtu: 9000\n");
  const fake::Printed shown = system.shown();
  CHECK(!has(shown.out, "\x1b"));
  const std::string toml = ctl::Json::parse(system.run(false, false, true).out)["toml"];
  CHECK(toml ==
        "[[adapter]]  # in place of /etc/netplan/\\n[[adapter]]\\nmanage = "
        "\"agent\"\\n\\x1b[2J.yaml:3\n"
        "match = { netdev = \"ens226\" }\nmtu = 9000\n");
  CHECK(has(shown.out, toml));
}
