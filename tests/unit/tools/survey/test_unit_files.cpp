// SPDX-License-Identifier: GPL-2.0-or-later
// The state of units at the next boot, on made-up roots.
#include "agent/tools/survey/link_files.hpp"
#include "agent/tools/survey/unit_files.hpp"

#include "probes/settings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tree.hpp"

namespace pvrdma::probes {

namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr const char* kUnit = "/usr/lib/systemd/system/slurmd.service";

struct UnitFilesFixture {
  test::Tree tree;
  [[nodiscard]] Field<UnitFile> unit(const std::string& name) const {
    return unit_file(tree.root(), name);
  }
  [[nodiscard]] Field<MemlockLimit> limit(const std::string& unit = "slurmd") const {
    return unit_memlock_on_disk(tree.root(), unit).limit;
  }
  void drop_in(const std::string& path, const std::string& value) const {
    tree.file(path, "[Service]\nLimitMEMLOCK=" + value + "\n");
  }
};

}  // namespace

TEST_CASE("settings: sections, comments, joined lines") {
  const auto settings = parse_settings(
      "Before=1\n[A]\n# x=1\n ; y=1\nKey = a \\\n b\nKey=\n[B]\r\nKey=c # kept\r\nno value\n");
  CHECK(settings == std::vector<Setting>{{"", "Before", "1", 1},
                                         {"A", "Key", "a  b", 5},
                                         {"A", "Key", "", 7},
                                         {"B", "Key", "c # kept", 9}});
  CHECK(find_setting(settings, "A", "Key")->empty());
  CHECK(find_setting(settings, "C", "Key") == nullptr);
}

TEST_CASE_METHOD(UnitFilesFixture, "unit: absent, there, enabled, masked") {
  CHECK(unit("slurmd.service").is_absent());
  tree.file(kUnit, "[Service]\n");
  CHECK(unit("slurmd.service").is({kUnit, false, false}));
  tree.link("/etc/systemd/system/multi-user.target.wants/slurmd.service", kUnit);
  CHECK(unit("slurmd.service").is({kUnit, true, false}));
  tree.link("/etc/systemd/system/slurmd.service", "/dev/null");
  CHECK(unit("slurmd.service").is({"/etc/systemd/system/slurmd.service", false, true}));
}

TEST_CASE_METHOD(UnitFilesFixture, "unit: a package may want it, /run does not count") {
  tree.file(kUnit, "");
  tree.link("/run/systemd/system/multi-user.target.wants/slurmd.service", kUnit);
  // An empty file masks as well.
  CHECK(unit("slurmd.service").is({kUnit, false, true}));
  tree.file(kUnit, "[Unit]\n");
  CHECK(unit("slurmd.service").is({kUnit, false, false}));
  tree.link("/usr/lib/systemd/system/x.target.requires/slurmd.service", "../slurmd.service");
  CHECK(unit("slurmd.service").is({kUnit, true, false}));
}

TEST_CASE_METHOD(UnitFilesFixture, "unit: an unreadable file is reported") {
  tree.file(kUnit, "[Unit]\n");
  tree.unreadable("/etc/systemd/system");
  CHECK(unit("slurmd.service").is_unreadable());
  tree.remove("/etc/systemd/system");
  tree.unreadable("/etc/systemd/system/slurmd.service.d/x.conf");
  CHECK(limit().is_unreadable());
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: the forms of a limit") {
  CHECK(parse_memlock("infinity") == MemlockLimit{});
  CHECK(parse_memlock("64K:infinity") == MemlockLimit{65536U});
  CHECK(parse_memlock("8M") == MemlockLimit{8 * kMiB});
  CHECK(parse_memlock("100") == MemlockLimit{100U});
  for (const char* word : {"", "lots", "8X", "-1", "99999999999E"}) {
    INFO(word);
    CHECK_FALSE(parse_memlock(word).has_value());
  }
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: of a unit, its drop-ins in their order") {
  CHECK(limit().is_absent());
  tree.file(kUnit, "[Socket]\nLimitMEMLOCK=1M\n[Service]\n#LimitMEMLOCK=2M\nLimitMEMLOCK=4M\n");
  CHECK(limit().is({4 * kMiB, std::string{kUnit} + ":5"}));
  drop_in("/usr/lib/systemd/system/slurmd.service.d/50-x.conf", "infinity");
  CHECK(limit().is({{}, "/usr/lib/systemd/system/slurmd.service.d/50-x.conf:2"}));
  // Of two files with one name, that in /etc counts; a later name counts in any folder.
  drop_in("/etc/systemd/system/slurmd.service.d/50-x.conf", "16M");
  CHECK(limit().get()->bytes == 16 * kMiB);
  drop_in("/usr/lib/systemd/system/slurmd.service.d/60-x.conf", "32M");
  CHECK(limit().get()->bytes == 32 * kMiB);
  drop_in("/run/systemd/system/slurmd.service.d/70-x.conf", "64M");
  CHECK(limit().get()->bytes == 32 * kMiB);
  // An empty value resets the limit.
  drop_in("/etc/systemd/system/slurmd.service.d/60-x.conf", "");
  CHECK(limit().is({8 * kMiB, "systemd's default"}));
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: drop-ins for a type, a prefix and a template") {
  tree.file("/usr/lib/systemd/system/mpi-job@.service", "[Service]\nExecStart=x\n");
  CHECK(limit("mpi-job@1").is({8 * kMiB, "systemd's default"}));
  drop_in("/etc/systemd/system/service.d/10-x.conf", "1M");
  CHECK(limit("mpi-job@1").get()->bytes == 1 * kMiB);
  drop_in("/etc/systemd/system/mpi-.service.d/20-x.conf", "2M");
  CHECK(limit("mpi-job@1").get()->bytes == 2 * kMiB);
  drop_in("/etc/systemd/system/mpi-job@.service.d/30-x.conf", "3M");
  CHECK(limit("mpi-job@1").get()->bytes == 3 * kMiB);
  drop_in("/etc/systemd/system/mpi-job@1.service.d/30-x.conf", "4M");
  CHECK(limit("mpi-job@1").get()->bytes == 4 * kMiB);
  // Drop-ins are sorted by name: the general 40 comes after the specific 30.
  drop_in("/etc/systemd/system/service.d/40-x.conf", "5M");
  CHECK(limit("mpi-job@1").get()->bytes == 5 * kMiB);
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: another name of a unit") {
  tree.file("/usr/lib/systemd/system/ssh.service", "[Service]\nExecStart=x\n");
  tree.link("/etc/systemd/system/sshd.service", "/usr/lib/systemd/system/ssh.service");
  drop_in("/etc/systemd/system/ssh.service.d/x.conf", "infinity");
  CHECK(limit("sshd").is({{}, "/etc/systemd/system/ssh.service.d/x.conf:2"}));
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: systemd's default, which system.conf may change") {
  tree.file(kUnit, "[Service]\n");
  tree.file("/etc/systemd/system.conf", "[Manager]\n#DefaultLimitMEMLOCK=1M\n");
  CHECK(limit().is({8 * kMiB, "systemd's default"}));
  tree.file("/usr/lib/systemd/system.conf.d/x.conf", "[Manager]\nDefaultLimitMEMLOCK=infinity\n");
  CHECK(limit().is({{}, "/usr/lib/systemd/system.conf.d/x.conf:2"}));
  CHECK(login_memlock_on_disk(tree.root()).get()->place ==
        "/usr/lib/systemd/system.conf.d/x.conf:2");
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: pam_limits counts for logins") {
  CHECK(login_memlock_on_disk(tree.root()).is({8 * kMiB, "systemd's default"}));
  tree.file("/etc/security/limits.d/90-rdma.conf", "* - memlock unlimited\n");
  CHECK(login_memlock_on_disk(tree.root()).is({{}, "/etc/security/limits.d/90-rdma.conf:1"}));
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: Debian's pam_limits begins with the limits of PID 1") {
  const std::string limits = "/etc/security/limits.d/90-rdma.conf";
  const MemlockLimit first{std::uint64_t{4096} * kMiB, "/proc/1/limits"};
  const auto of_pid_1 = [&] { return login_memlock_on_disk(tree.root()).is(first); };
  tree.file("/etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=infinity\n");
  tree.file("/proc/1/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            "Max locked memory         4294967296           4294967296           bytes     \n");
  for (const char* release :
       {"ID=debian\nVERSION_ID=\"12\"\n", "ID=ubuntu\nVERSION_ID=\"24.04\"\n"}) {
    tree.file("/etc/os-release", release);
    CHECK(of_pid_1());
  }
  tree.file(limits, "* soft memlock unlimited\n");
  CHECK(login_memlock(tree.root()).is(first));
  tree.file(limits, "* - memlock unlimited\n");
  CHECK(login_memlock(tree.root()).is({{}, limits + ":1"}));
  tree.remove(limits);
  for (const char* release :
       {"ID=debian\nVERSION_ID=\"13\"\n", "ID=debian\n", "ID=rhel\nVERSION_ID=9.4\n"}) {
    tree.file("/etc/os-release", release);
    CHECK_FALSE(of_pid_1());
  }
  tree.file("/etc/pam.d/sshd", "# session required pam_limits.so set_all\n");
  CHECK_FALSE(of_pid_1());
  for (const std::string file :
       {"sshd", "common-session", "password-auth", "system-auth", "login"}) {
    tree.file("/etc/pam.d/" + file, "session    required   pam_limits.so set_all # why\n");
    CHECK(of_pid_1());
    if (file != "login") tree.remove("/etc/pam.d/" + file);
  }
  // In an image it is not known.
  tree.remove("/proc/1/limits");
  CHECK(login_memlock_on_disk(tree.root()).is_absent());
  tree.file(limits, "* soft memlock unlimited\n");
  CHECK(login_memlock_on_disk(tree.root()).is_absent());
}

TEST_CASE_METHOD(UnitFilesFixture, "memlock: pam_limits cuts the soft limit to the hard one") {
  const std::string file = "/etc/security/limits.d/90-rdma.conf";
  tree.file(file, "* soft memlock unlimited\n");
  CHECK(login_memlock(tree.root()).is({8 * kMiB, "systemd's default"}));
  CHECK(login_memlock_on_disk(tree.root()).is({8 * kMiB, "systemd's default"}));
  tree.file("/etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=1M:16M\n");
  CHECK(login_memlock(tree.root()).is({16 * kMiB, "/etc/systemd/system.conf:2"}));
  tree.file("/etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=1M:infinity\n");
  CHECK(login_memlock(tree.root()).is({{}, file + ":1"}));
  tree.file("/etc/systemd/system.conf", "[Manager]\nDefaultLimitMEMLOCK=16M\n");
  CHECK(login_memlock(tree.root()).is({16 * kMiB, "/etc/systemd/system.conf:2"}));
  tree.file(file, "* hard memlock 65536\n* soft memlock unlimited\n");
  CHECK(login_memlock(tree.root()).is({64 * kMiB, file + ":1"}));
  tree.file(file, "* - memlock unlimited\n* hard memlock 65536\n");
  CHECK(login_memlock(tree.root()).is({64 * kMiB, file + ":2"}));
  tree.file(file, "* hard memlock 65536\n* - memlock unlimited\n");
  CHECK(login_memlock(tree.root()).is({{}, file + ":2"}));
  tree.file(file, "* soft memlock 4096\n* hard memlock unlimited\n");
  CHECK(login_memlock(tree.root()).is({4 * kMiB, file + ":1"}));
}

}  // namespace pvrdma::probes
