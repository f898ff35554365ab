// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the scripts that reload the driver at boot have ended.
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "agent/base/handle.hpp"
#include "probes/recipe/boot_scripts.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using test::Tree;

namespace {

constexpr BootTime kEarly{Milliseconds{30'000}}, kLate{kBootPatience + Milliseconds{1}};
constexpr const char* kScript = "#!/bin/sh\nmodprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n";
const std::string kUnits = "/etc/systemd/system/";

struct Machine {
  Tree tree;
  Result<bool> moving = false;
  std::vector<std::string> asked;
  BootScriptWatch watch{tree.root(),
                        [this](const std::string& unit) {
                          asked.push_back(unit);
                          return moving;
                        },
                        Milliseconds{60'000}};

  Machine() { tree.file("/proc/1/status", "Name:\tsystemd\n"); }
  void rc_local(const std::string& content) const {
    tree.file("/etc/rc.local", content);
    std::filesystem::permissions(tree / "/etc/rc.local", std::filesystem::perms::owner_all);
  }
  // Makes /proc show one process of root's with this command line, or none.
  void runs(const std::vector<std::string>& words) const {
    tree.remove("/proc/77");
    std::string text;
    for (const std::string& word : words) text += word + '\0';
    if (words.empty()) return;
    tree.file("/proc/77/cmdline", text);
    tree.file("/proc/77/status", "Name:\tsh\nUid:\t0\t0\t0\t0\n");
  }
  std::vector<BootScript> look(BootTime now = kEarly, bool ask = true) {
    const auto seen = watch.look({"ib_umad"}, ask, now);
    CHECK_FALSE(seen.error);
    return seen.scripts;
  }
};

const std::vector<BootScript> kEnded{{"/etc/rc.local", true}};
const std::vector<BootScript> kGoing{{"/etc/rc.local", false}};

}  // namespace

TEST_CASE("a script has ended when neither its unit nor a process runs it") {
  Machine machine;
  machine.rc_local(kScript);
  machine.moving = true;
  CHECK(machine.look() == kGoing);
  CHECK(machine.asked == std::vector<std::string>{"rc-local.service"});
  machine.moving = false;
  for (const char* name : {"/bin/sh", "/usr/bin/python3.9", "/usr/libexec/platform-python3.6"}) {
    machine.runs({name, "-e", "/etc/rc.local", "start"});
    CHECK(machine.look() == kGoing);
  }
  machine.runs({"vi", "/etc/rc.local"});
  CHECK(machine.look() == kEnded);
  // A script that has ended is not asked for again.
  const auto questions = machine.asked.size();
  machine.runs({"/bin/sh", "/etc/rc.local"});
  CHECK(machine.look() == kEnded);
  CHECK(machine.asked.size() == questions);
}

TEST_CASE("of a template, each instance is asked for, as systemd knows no template") {
  Machine machine;
  machine.tree.file(kUnits + "up@.service", "[Service]\nExecStart=/opt/up.sh %i\n");
  machine.tree.file("/opt/up.sh", kScript);
  for (const char* instance : {"up@a.service", "up@b.service"})
    machine.tree.link(kUnits + "multi-user.target.wants/" + instance, "../up@.service");
  CHECK(machine.look() == std::vector<BootScript>{{"/opt/up.sh", true}});
  CHECK(machine.asked == std::vector<std::string>{"up@a.service", "up@b.service"});
}

TEST_CASE("a script that several units run has ended when none of them is in motion") {
  Machine machine;
  machine.rc_local("/opt/up.sh\n");
  machine.tree.file("/opt/up.sh", kScript);
  machine.tree.file(kUnits + "up.service", "[Service]\nExecStart=/usr/local/sbin/up\n");
  machine.tree.link("/usr/local/sbin/up", "/opt/up.sh");
  machine.tree.link(kUnits + "multi-user.target.wants/up.service", "../up.service");
  CHECK(machine.look() == std::vector<BootScript>{{"/opt/up.sh", true}});
  CHECK(machine.asked == std::vector<std::string>{"rc-local.service", "up.service"});
  machine.moving = true;
  machine.rc_local("/opt/up.sh\n# changed\n");
  CHECK(machine.look() == std::vector<BootScript>{{"/opt/up.sh", false}});
  // A process may have the script by each of its names.
  machine.moving = false;
  for (const char* name : {"/opt/up.sh", "/usr/local/sbin/up"}) {
    machine.runs({"/bin/sh", name});
    CHECK(machine.look() == std::vector<BootScript>{{"/opt/up.sh", false}});
  }
}

TEST_CASE("where systemd cannot be asked, the time decides") {
  Machine machine;
  machine.rc_local(kScript);
  machine.moving = fail(ENOENT, "connecting to", "the system bus");
  CHECK(machine.look() == kGoing);
  CHECK(machine.look(BootTime{kBootPatience}) == kGoing);
  CHECK(machine.look(BootTime{kBootPatience + Milliseconds{1}}) == kEnded);
}

TEST_CASE("where /proc hides root's processes, the time decides too") {
  Machine machine;
  machine.rc_local(kScript);
  machine.tree.remove("/proc/1");
  SECTION("hidepid=2") {}
  SECTION("hidepid=1") { machine.tree.unreadable("/proc/1/status"); }
  CHECK(machine.look() == kGoing);
  CHECK(machine.look(BootTime{kBootPatience}) == kGoing);
  machine.moving = true;
  CHECK(machine.look(kLate) == kGoing);
  machine.moving = false;
  CHECK(machine.look(kLate) == kEnded);
}

TEST_CASE("whether a timer has started its unit already is not asked, so the time decides") {
  Machine machine;
  std::string path = "/opt/up.sh";
  const std::string more = GENERATE(as<std::string>{}, "", "\\\n ");
  machine.tree.file(path, kScript);
  SECTION("a unit") {
    machine.tree.file(kUnits + "up.service", "[Service]\nExecStart=/opt/up.sh\n");
    machine.tree.file(kUnits + "up.timer", "[Timer]\nOnBootSec=2min\n");
    machine.tree.link(kUnits + "timers.target.wants/up.timer", "../up.timer");
  }
  SECTION("systemd-run") {
    machine.rc_local("systemd-run --on-active=60 " + more + "/opt/up.sh\n");
  }
  SECTION("systemd-run with the commands themselves") {
    path = "/etc/rc.local";
    machine.rc_local("systemd-run --on-active=60 " + more + "sh -c 'modprobe -r vmw_pvrdma'\n");
  }
  CHECK(machine.look() == std::vector<BootScript>{{path, false}});
  CHECK(machine.look(kLate) == std::vector<BootScript>{{path, true}});
}

TEST_CASE("a caller that waits in the background is about to run the script") {
  Machine machine;
  machine.tree.file("/opt/up.sh", kScript);
  const std::vector<BootScript> going{{"/opt/up.sh", false}}, ended{{"/opt/up.sh", true}};
  SECTION("cron") {
    machine.tree.file("/etc/cron.d/rdma", "@reboot root sleep 60 && /opt/up.sh\n");
    machine.runs({"/bin/sh", "-c", "sleep 60 && /opt/up.sh"});
    CHECK(machine.look() == going);
    CHECK(machine.look(kLate) == going);
    machine.runs({"/bin/sh", "-c", "sleep 60 && /opt/other.sh"});
    CHECK(machine.look() == ended);
  }
  SECTION("rc.local, which may also stay there for ever") {
    machine.rc_local("(sleep 60; /opt/up.sh) &\n");
    machine.runs({"/bin/sh", "-e", "/etc/rc.local", "start"});
    CHECK(machine.look() == going);
    CHECK(machine.look(kLate) == ended);
  }
}

TEST_CASE("only scripts that touch the driver at boot count") {
  Machine machine;
  machine.rc_local("modprobe ib_umad\nibv_devinfo\n");
  machine.tree.file("/etc/modules", "vmw_pvrdma\n");
  machine.tree.file("/etc/systemd/system/off.service",
                    "[Service]\nExecStart=modprobe vmw_pvrdma\n");
  CHECK(machine.look().empty());
  machine.rc_local(kScript);
  std::filesystem::permissions(machine.tree / "/etc/rc.local", std::filesystem::perms::owner_read);
  CHECK(machine.look().empty());
}

TEST_CASE("a crontab's line runs as an argument of sh -c") {
  Machine machine;
  machine.tree.file("/etc/cron.d/rdma", "@reboot root sleep 99; modprobe -r vmw_pvrdma\n");
  machine.runs({"/bin/sh", "-c", "sleep 99; modprobe -r vmw_pvrdma"});
  CHECK(machine.look() == std::vector<BootScript>{{"/etc/cron.d/rdma", false}});
  machine.runs({"/bin/sh", "-c", "sleep 99"});
  CHECK(machine.look() == std::vector<BootScript>{{"/etc/cron.d/rdma", true}});
}

TEST_CASE("changed files are read again, every five minutes or when asked") {
  Machine machine;
  CHECK(machine.look().empty());
  machine.rc_local(kScript);
  CHECK(machine.look(kEarly + Milliseconds{1000}, false).empty());
  CHECK(machine.look(kEarly + Milliseconds{300'000}, false) == kEnded);
  machine.rc_local("exit 0\n");
  CHECK(machine.look(kEarly + Milliseconds{301'000}, false) == kEnded);
  CHECK(machine.look(kEarly + Milliseconds{301'000}, true).empty());
}

namespace {

struct OtherProcess {
  Tree tree;
  OtherProcess() {
    tree.program("/etc/rc.local", "modprobe -r vmw_pvrdma\nmodprobe vmw_pvrdma\n");
    tree.file("/proc/1/status", "Name:\tsystemd\n");
  }
  // `uids`: real, effective, saved and file system's, as in /proc/PID/status.
  [[nodiscard]] bool ended_beside(const std::vector<std::string>& words, const std::string& uids,
                                  const std::string& login = "4294967295") const {
    std::string text;
    for (const std::string& word : words) text += word + '\0';
    tree.file("/proc/77/cmdline", text);
    tree.file("/proc/77/status", "Name:\tsh\nUmask:\t0022\nUid:\t" + uids + "\nGid:\t0\t0\t0\t0\n");
    tree.file("/proc/77/loginuid", login);
    const auto quiet = [](const std::string&) -> Result<bool> { return false; };
    BootScriptWatch watch{tree.root(), quiet, Milliseconds{60'000}};
    return watch.look({}, true, BootTime{Milliseconds{30'000}}).scripts.at(0).ended;
  }
};

const std::vector<std::string> kRunsScript{"/bin/sh", "/etc/rc.local", "start"};
constexpr const char* kRootIds = "0\t0\t0\t0";

}  // namespace

TEST_CASE("only root's process runs the script") {
  const OtherProcess process;
  CHECK(!process.ended_beside(kRunsScript, kRootIds));
  CHECK(process.ended_beside(kRunsScript, "65534\t65534\t65534\t65534"));
  // A set-uid program, and sudo, that a user has started.
  CHECK(process.ended_beside(kRunsScript, "1000\t0\t0\t0"));
  CHECK(process.ended_beside(kRunsScript, kRootIds, "1000"));
  const std::vector<std::string> text{"sh", "-c", "sleep 600; :", "/etc/rc.local"};
  CHECK(process.ended_beside(text, "65534\t65534\t65534\t65534"));
  const std::vector<std::string> recipe{"sh", "-c", "modprobe -r vmw_pvrdma", "/etc/rc.local"};
  CHECK(process.ended_beside(recipe, "65534\t65534\t65534\t65534"));
}

TEST_CASE("a process whose ids cannot be read does not count") {
  const OtherProcess process;
  CHECK(process.ended_beside(kRunsScript, "x"));
  CHECK(process.ended_beside(kRunsScript, ""));
}

TEST_CASE("a command line of nested quotes crashes nothing") {
  const OtherProcess process;
  std::string nested;
  while (nested.size() < (1U << 20U) - 64) nested += "\"$(";
  process.tree.file("/etc/cron.d/rdma", "@reboot root modprobe -r vmw_pvrdma\n");
  CHECK(process.ended_beside({"sh", "-c", nested}, kRootIds));
  CHECK(process.ended_beside({"sh", "-c", nested}, "65534\t65534\t65534\t65534"));
}

TEST_CASE("a command line of another user's process is not even opened") {
  const OtherProcess process;
  REQUIRE(process.ended_beside(kRunsScript, "1000\t1000\t1000\t1000"));
  const Fd watch{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  const std::string line = process.tree / "/proc/77/cmdline";
  REQUIRE(::inotify_add_watch(watch.get(), line.c_str(), IN_OPEN) >= 0);
  const auto quiet = [](const std::string&) -> Result<bool> { return false; };
  BootScriptWatch look{process.tree.root(), quiet, Milliseconds{60'000}};
  CHECK(look.look({}, true, kEarly).scripts == kEnded);
  std::array<char, 4096> events{};
  CHECK(::read(watch.get(), events.data(), events.size()) < 0);
  CHECK(errno == EAGAIN);
}

TEST_CASE("a look waits only for a moment for files that do not answer") {
  std::promise<void> answer;
  const auto stands_still = [until = answer.get_future().share()](const std::string&) {
    until.wait();
    return Result<bool>{false};
  };
  Machine machine;
  machine.rc_local(kScript);
  BootScriptWatch watch{machine.tree.root(), stands_still, Milliseconds{20}};
  const auto first = watch.look({}, true, kEarly);
  CHECK(first.scripts.empty());
  REQUIRE(first.error);
  CHECK(first.error->message() ==
        "looking for scripts that reload vmw_pvrdma at boot: Connection timed out");
  CHECK(watch.look({}, true, kEarly).error);
  answer.set_value();
  const BootTime limit = BootClock::now() + Milliseconds{60'000};
  while (watch.look({}, false, kEarly).error && BootClock::now() < limit) std::this_thread::yield();
  CHECK(watch.look({}, false, kEarly).scripts == kEnded);
}
