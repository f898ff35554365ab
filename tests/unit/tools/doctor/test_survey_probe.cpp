// SPDX-License-Identifier: GPL-2.0-or-later
// The probes that doctor has besides a Snapshot, on made-up files and on this machine's own.
#include "agent/tools/doctor/survey_probe.hpp"

#include <sys/resource.h>

#include <ctime>

#include "agent/tools/survey/machine.hpp"
#include "agent/tools/survey/memlock.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/module_blocks.hpp"
#include "tests/unit/probes/tree.hpp"

using namespace pvrdma;
using namespace pvrdma::probes;
using pvrdma::test::blocks_of;
using pvrdma::test::Tree;
using namespace std::string_literals;

TEST_CASE("limits.conf: of each kind the last line for all users counts") {
  const auto limits_in = [](const char* text) {
    LoginLimits limits;
    take_limits("/l.conf", text, limits);
    return limits;
  };
  const LoginLimits limits = limits_in(
      "# *  - memlock 1\n"
      "root     - memlock 2\n"
      "* - memlock 3\n"
      "*   -   memlock   64 # KiB\n"
      "*     hard memlock 5\n"
      "*  soft  nofile 5\n");
  CHECK(limits.soft.is({64U * 1024U, "/l.conf:4"}));
  CHECK(limits.hard.is({5U * 1024U, "/l.conf:5"}));
  CHECK(limits_in("* soft memlock unlimited\n").soft.is({{}, "/l.conf:1"}));
  CHECK(limits_in("* soft memlock unlimited\n").hard.is_absent());
  CHECK(limits_in("* soft memlock -1").soft.is({{}, "/l.conf:1"}));
  CHECK(limits_in("* - memlock 99999999999999999\n").soft.get()->bytes.has_value());
  CHECK(limits_in("* - memlock much\n* - memlock\n* both memlock 1\n").soft.is_absent());
}

TEST_CASE("limits.d comes after limits.conf, in order of names") {
  const Tree tree;
  CHECK(login_memlock(tree.root()).is_absent());
  tree.file("/etc/security/limits.conf", "* - memlock 1\n");
  tree.file("/etc/security/limits.d/20-rdma.conf", "* - memlock unlimited\n");
  tree.file("/etc/security/limits.d/10-x.conf", "* - memlock 5\n");
  tree.file("/etc/security/limits.d/99-note.txt", "* - memlock 7\n");
  CHECK(login_memlock(tree.root()).get()->place == "/etc/security/limits.d/20-rdma.conf:1");
  tree.unreadable("/etc/security/limits.d/30-x.conf");
  CHECK(login_memlock(tree.root()).is_unreadable());
}

TEST_CASE("this process's own limit") {
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  const auto own = own_memlock();
  REQUIRE(own.is_known());
  CHECK(own.get()->bytes.value_or(RLIM_INFINITY) == limit.rlim_cur);
}

TEST_CASE("CAP_IPC_LOCK is bit 14 of the effective set") {
  const Tree tree;
  tree.file("/proc/self/status", "Name:\tx\nCapPrm:\t0\nCapEff:\t0000000000004000\n");
  CHECK(may_lock_all(tree.root()).is(true));
  // Root in a rootless container, as the map of user ids tells.
  tree.file("/proc/self/uid_map",
            "         0       1000          1\n         1     100000      65536\n");
  CHECK(may_lock_all(tree.root()).is(false));
  tree.file("/proc/self/uid_map", "         0          0 4294967295\n");
  CHECK(may_lock_all(tree.root()).is(true));
  tree.file("/proc/self/status", "CapPrm:\t4000\nCapEff:\t000001ffffffbfff\n");
  CHECK(may_lock_all(tree.root()).is(false));
  tree.file("/proc/self/status", "Name:\tx\n");
  CHECK(may_lock_all(tree.root()).is_unreadable());
}

TEST_CASE("a block list of this boot alone does not count for the next") {
  const Tree tree;
  tree.directory("/lib/modules");
  tree.file("/run/modprobe.d/a.conf", "blacklist vmw_pvrdma\n");
  CHECK(blocks_of(tree.root(), {"vmw_pvrdma"}).get()->size() == 1);
  CHECK(blocks_of(tree.root(), {"vmw_pvrdma"}, ModprobeOf::NextBoot).get()->empty());
}

TEST_CASE("settings that keep modules from being loaded") {
  const Tree tree;
  tree.directory("/lib/modules");
  const std::vector<std::string> modules{"vmw_pvrdma", "ib_umad", "rdma_cm"};
  CHECK(blocks_of(tree.root(), modules).is(std::vector<ModuleBlock>{}));
  tree.file("/etc/modprobe.d/a.conf",
            "blacklist vmw-pvrdma\nblacklist other\ninstall ib_umad /bin/false\n"
            "install rdma_cm /sbin/modprobe --ignore-install rdma_cm\n");
  tree.file("/proc/cmdline", "quiet module_blacklist=x,rdma_cm modprobe.blacklist=y\n");
  CHECK(blocks_of(tree.root(), modules)
            .is({{"vmw_pvrdma", "\"blacklist vmw_pvrdma\" in /etc/modprobe.d/a.conf:1"},
                 {"ib_umad", "\"install ib_umad /bin/false\" in /etc/modprobe.d/a.conf:3"},
                 {"rdma_cm", "\"module_blacklist=x,rdma_cm\" on the kernel's command line"}}));
  tree.remove("/proc/cmdline");
  tree.unreadable("/proc/cmdline");
  CHECK(blocks_of(tree.root(), modules).is_unreadable());
}

TEST_CASE("commands in place of a module that load nothing") {
  const Tree tree;
  for (const test::InstallCommand& command : test::kInstallCommands) {
    INFO(command.text);
    tree.file("/etc/modprobe.d/a.conf", "install rdma_cm " + std::string{command.text} + "\n");
    const auto blocks = blocks_of(tree.root(), {"rdma_cm"});
    REQUIRE(blocks.is_known());
    CHECK(blocks.get()->empty() != command.loads_nothing);
  }
}

TEST_CASE("the private interface of libibverbs and its providers") {
  CHECK(private_abi_in(std::string{"\0IBVERBS_1.1\0IBVERBS_PRIVATE_34\0", 32}).is(34U));
  CHECK(private_abi_in("IBVERBS_PRIVATE_25 IBVERBS_PRIVATE_57").is(57U));
  CHECK(private_abi_in("IBVERBS_PRIVATE_ IBVERBS_1.0").is_absent());
  CHECK(private_abi_of_provider("libvmw_pvrdma-rdmav34.so").is(34U));
  CHECK(private_abi_of_provider("libvmw_pvrdma-rdmav34.so.1").is_absent());
  CHECK(private_abi_of_provider("libmlx5-rdmav34.so").is_absent());
  CHECK(private_abi_of_provider("libvmw_pvrdma-rdmav.so").is_absent());
}

TEST_CASE("libraries are found in the order of the dynamic linker") {
  const Tree tree;
  tree.file("/etc/ld.so.conf", "include ld.so.conf.d/*.conf # all\n/usr/local/lib\n");
  tree.file("/etc/ld.so.conf.d/mlnx.conf", "/opt/mellanox/lib\n");
  tree.file("/opt/mellanox/lib/libibverbs.so.1", "IBVERBS_1.1");
  tree.file("/usr/lib/libibverbs.so.1", "IBVERBS_PRIVATE_34");
  tree.link("/lib", "usr/lib");
  tree.file("/usr/lib/libibverbs/libvmw_pvrdma-rdmav34.so", "");
  tree.file("/usr/lib/libibverbs/libmlx5-rdmav34.so", "");
  tree.file("/etc/libibverbs.d/vmw_pvrdma.driver", "# x\ndriver vmw_pvrdma\n");
  tree.file("/var/lib/dpkg/status",
            "Package: libibverbs1\nStatus: install ok installed\nVersion: 51mlnx1-1.51258\n\n"
            "Package: librdmacm1\nStatus: deinstall ok config-files\nVersion: 51mlnx1\n\n"
            "Package: zlib1g\nStatus: install ok installed\nVersion: 1.2\n");
  const auto found = look_at_verbs_libraries(tree.root(), "");
  REQUIRE(found.is_known());
  const Libraries& libraries = *found.get();
  REQUIRE(libraries.verbs.size() == 2);
  CHECK(libraries.verbs[0].path == "/opt/mellanox/lib/libibverbs.so.1");
  CHECK(libraries.verbs[0].private_abi.is_absent());
  CHECK(libraries.verbs[1].private_abi.is(34U));
  REQUIRE(libraries.providers.size() == 1);
  CHECK(libraries.providers[0].private_abi.is(34U));
  CHECK(libraries.driver_file.is("/etc/libibverbs.d/vmw_pvrdma.driver"));
  CHECK(libraries.vendor == std::vector<std::string>{"package libibverbs1 51mlnx1-1.51258",
                                                     "/etc/ld.so.conf.d/mlnx.conf: "
                                                     "/opt/mellanox/lib",
                                                     "/opt/mellanox"});
  CHECK(libraries.vendor_packages.is({"libibverbs1"}));
  tree.remove("/var/lib/dpkg/status");
  const auto by_path = look_at_verbs_libraries(tree.root(), "relative:/usr/lib");
  CHECK(by_path.get()->verbs[0].path == "/usr/lib/libibverbs.so.1");
  CHECK(by_path.get()->vendor_packages.is_absent());
}

TEST_CASE("libibverbs tells the folder in which it looks for the names of drivers") {
  const Tree tree;
  tree.file("/etc/ld.so.conf", "/usr/local/lib\n");
  const std::string library = "\0/usr/local/etc/libibverbs.d\0%s/%s\0IBVERBS_PRIVATE_34"s;
  tree.file("/usr/local/lib/libibverbs.so.1", library);
  tree.file("/usr/local/lib/libibverbs/libvmw_pvrdma-rdmav34.so", "");
  const auto file = [&] {
    return look_at_verbs_libraries(tree.root(), "").value_or({}).driver_file;
  };
  tree.file("/etc/libibverbs.d/vmw_pvrdma.driver", "driver vmw_pvrdma\n");
  CHECK(file().is_absent());
  tree.file("/usr/local/etc/libibverbs.d/vmw_pvrdma.driver", "driver vmw_pvrdma\n");
  CHECK(file().is("/usr/local/etc/libibverbs.d/vmw_pvrdma.driver"));
  // Without such a text, or with one that is no path, it is the folder of distributions.
  for (const std::string& other :
       {"IBVERBS_PRIVATE_34"s, "\0x/libibverbs.d"s, "\0/$(x)/libibverbs.d"s}) {
    tree.file("/usr/local/lib/libibverbs.so.1", other);
    CHECK(file().is("/etc/libibverbs.d/vmw_pvrdma.driver"));
  }
}

TEST_CASE("a configuration of the linker that includes itself does not loop") {
  const Tree tree;
  tree.file("/etc/ld.so.conf", "include /etc/ld.so.conf\n/usr/lib\n");
  CHECK(look_at_verbs_libraries(tree.root(), "").is_known());
  tree.remove("/etc/ld.so.conf");
  tree.unreadable("/etc/ld.so.conf");
  CHECK(look_at_verbs_libraries(tree.root(), "").is_unreadable());
}

TEST_CASE("the kind of this system") {
  const Tree tree;
  tree.file("/usr/lib/os-release",
            "ID=ubuntu\nVERSION_ID=\"22.04\"\nPRETTY_NAME=\"Ubuntu \\\"22\\\" LTS\"\n"
            "UBUNTU_CODENAME=jammy\nVERSION_CODENAME=other\n");
  CHECK(os_release(tree.root()).is({"ubuntu", "22.04", "Ubuntu \"22\" LTS", "jammy"}));
  CHECK(parse_os_release("ID='arch'\n").is({"arch", "", "arch "}));
  CHECK(parse_os_release("NAME=x\n").is_absent());
  tree.directory("/.singularity.d");
  CHECK(container_manager(tree.root()).is("apptainer"));
  tree.file("/.dockerenv", "");
  CHECK(container_manager(tree.root()).is("docker"));
  tree.file("/run/systemd/container", "systemd-nspawn\n");
  CHECK(container_manager(tree.root()).is("systemd-nspawn"));
  tree.file("/sys/class/dmi/id/sys_vendor", "VMware, Inc.\n");
  CHECK(dmi(tree.root(), "sys_vendor").is("VMware, Inc."));
  CHECK(virtualization(tree.root()).is_absent());  // the bus tells only about this system
}

TEST_CASE("a pod of Kubernetes has mounts that its host does not have") {
  const Tree tree;
  tree.file("/dev/termination-log", "");
  tree.directory("/run/secrets/kubernetes.io/serviceaccount");
  tree.file("/proc/self/mountinfo", "22 27 0:5 / /dev rw,nosuid shared:2 - devtmpfs udev rw\n");
  CHECK_FALSE(container_manager(tree.root()).is("kubernetes"));
  for (const std::string place :
       {"/dev/termination-log", "/run/secrets/kubernetes.io/serviceaccount"}) {
    tree.file("/proc/self/mountinfo", "812 790 8:1 /x " + place + " rw - ext4 /dev/sda1 rw\n");
    CHECK(container_manager(tree.root()).is("kubernetes"));
  }
}

TEST_CASE("booted by EFI and Secure Boot, which a container may not see") {
  const Tree tree;
  CHECK(booted_by_efi(tree.root()).is(false));
  CHECK(secure_boot(tree.root()).is_absent());
  tree.file("/run/systemd/container", "docker\n");
  tree.directory("/sys/firmware");  // empty, as container engines mask it
  CHECK(booted_by_efi(tree.root()).is_unreadable());
  CHECK(secure_boot(tree.root()).is_unreadable());
  const std::string variable =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  tree.file(variable, std::string{"\6\0\0\0\1", 5});
  CHECK(booted_by_efi(tree.root()).is(true));
  CHECK(secure_boot(tree.root()).is(true));
  tree.file(variable, std::string{"\6\0\0\0\0", 5});
  CHECK(secure_boot(tree.root()).is(false));
  tree.remove(variable);
  CHECK(secure_boot(tree.root()).is_unreadable());
  tree.remove("/sys/firmware");
  tree.unreadable("/sys/firmware");
  CHECK(secure_boot(tree.root()).is_unreadable());
  tree.remove("/run");
  tree.remove("/.dockerenv");
  tree.unreadable("/.dockerenv");
  CHECK_FALSE(container_manager(tree.root()).is("docker"));
}

TEST_CASE("the clock against that of the hardware, unless that is in local time") {
  const Tree tree;
  CHECK(clock_state(tree.root(), 1000).off_rtc_seconds.is_absent());
  tree.file("/sys/class/rtc/rtc0/since_epoch", "940\n");
  CHECK(clock_state(tree.root(), 1000).off_rtc_seconds.is(60));
  tree.file("/etc/adjtime", "0.0 0 0.0\n0\nLOCAL\n");
  CHECK(clock_state(tree.root(), 1000).off_rtc_seconds.is_absent());
}

TEST_CASE(
    "nodes of /dev/infiniband are character devices, and tell whether this user may open them") {
  const Tree tree;
  CHECK(device_nodes(tree.root()).is_absent());
  tree.file("/dev/infiniband/uverbs0", "a file");
  tree.directory("/dev/infiniband/by-path");
  tree.link("/dev/infiniband/uverbs1", "/dev/null");
  const auto nodes = device_nodes(tree.root());
  REQUIRE(nodes.is_known());
  REQUIRE(nodes.get()->size() == 1);
  CHECK(nodes.get()->front().name == "uverbs1");
  CHECK(nodes.get()->front().openable.is(true));
}
