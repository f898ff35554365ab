// SPDX-License-Identifier: GPL-2.0-or-later
// A made-up system with pvrdma-agent installed and enabled, for tests of `migrate`. Its files
// belong to root, so these tests need root.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "agent/ctl/commands.hpp"
#include "agent/tools/migrate/command.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::test {

struct MigrateSystem {
  Tree tree;
  fake::Directory directory;

  explicit MigrateSystem(const std::string& rc_local) {
    tree.program("/usr/sbin/pvrdma-agent", "");
    tree.file("/usr/lib/systemd/system/pvrdma-agent.service", "[Unit]\n");
    tree.file("/usr/lib/systemd/system/pvrdma-agent-executor.socket", "[Unit]\n");
    tree.link("/etc/systemd/system/multi-user.target.wants/pvrdma-agent.service",
              "/usr/lib/systemd/system/pvrdma-agent.service");
    tree.file("/etc/rc.local", rc_local);
    ::chmod(path("/etc/rc.local").c_str(), 0754);
    const timespec times[] = {{0, UTIME_OMIT}, {1'700'000'000, 123'456'789}};
    ::utimensat(AT_FDCWD, path("/etc/rc.local").c_str(), times, 0);
  }
  [[nodiscard]] std::string path(const std::string& absolute) const {
    return (tree / absolute).string();
  }
  void give_to(const std::string& absolute, uid_t user) const {
    static_cast<void>(::lchown(path(absolute).c_str(), user, user));
  }
  [[nodiscard]] struct stat status(const std::string& absolute) const {
    struct stat found {};
    ::stat(path(absolute).c_str(), &found);
    return found;
  }
  [[nodiscard]] fake::Printed run(bool apply, bool revert, bool json = false) const {
    fake::Screen screen;
    ctl::Settings settings = fake::settings(directory / "socket");
    settings.json = json;
    const int code =
        ctl::migrate(settings, screen.console, {apply, revert, (tree.root() / "/").string()});
    return {code, screen.out(), screen.err()};
  }
  [[nodiscard]] fake::Printed shown() const { return run(false, false); }
  [[nodiscard]] fake::Printed applied() const { return run(true, false); }
  [[nodiscard]] fake::Printed reverted() const { return run(false, true); }
};

}  // namespace pvrdma::test
