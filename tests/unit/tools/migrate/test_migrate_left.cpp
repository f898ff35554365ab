// SPDX-License-Identifier: GPL-2.0-or-later
// Scripts that `migrate` names and never edits.
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "agent/config/draft.hpp"
#include "agent/config/toml_tree.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tools/migrate/migrate_system.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;
using test::MigrateSystem;

TEST_CASE("a script with a body that would be left empty is left to a person, whole") {
  for (const std::string script : {"if true; then\n  modprobe vmw_pvrdma\nfi\nmodprobe rdma_cm\n",
                                   "#!/bin/bash\nup() {\n  modprobe vmw_pvrdma\n}\nup\n",
                                   "while :; do  # for ever\n  modprobe -r vmw_pvrdma\n\n  # why\n "
                                   " modprobe vmw_pvrdma\ndone\n",
                                   "if a\nthen\n  echo b\nelse\n  modprobe vmw_pvrdma\nfi\n"}) {
    const MigrateSystem system{script};
    const fake::Printed applied = system.applied();
    CHECK(applied.code == 1);
    CHECK(has(applied.out, "by hand: the script is left as it is: the body that begins in line"));
    CHECK(!has(applied.out, "the agent does this"));
    CHECK(system.tree.read("/etc/rc.local") == script);
    CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
  }
}

TEST_CASE("a script with an unload that is left to a person is left to a person, whole") {
  for (const std::string& script :
       {std::string{"modprobe ib_umad\nmodprobe -r vmw_pvrdma\nmodprobe -r vmxnet3\n"
                    "modprobe vmxnet3\nmodprobe vmw_pvrdma\nifup ens192\n"},
        std::string{"modprobe -r vmw_pvrdma >>/var/log/x 2>&1\nmodprobe vmw_pvrdma\n"},
        std::string{"for m in vmw_pvrdma vmxnet3; do\n  rmmod $m\ndone\nmodprobe vmxnet3\n"},
        std::string{"rmmod $NIC vmw_pvrdma; ip link set $DEV up\nmodprobe vmxnet3\n"},
        // Functions run in another order than that of the lines.
        std::string{"start() {\n  modprobe -a ib_umad rdma_cm\n  modprobe vmw_pvrdma\n"
                    "  ifup ens224f0\n}\nstop() {\n  ifdown ens224f0\n"
                    "  for m in vmw_pvrdma ib_umad; do modprobe -r $m; done\n}\n"
                    "case $1 in restart) stop; start ;; esac\n"},
        // Without the first line vmxnet3 would be removed below the loaded driver.
        std::string{"modprobe -r vmw_pvrdma\nmodprobe -r vmxnet3\nmodprobe vmxnet3\n"
                    "modprobe vmw_pvrdma\n"},
        std::string{"modprobe ib_umad\nmodprobe -r vmxnet3\nmodprobe -r vmw_pvrdma\nexit 0\n"}}) {
    const MigrateSystem system{script};
    const fake::Printed applied = system.applied();
    CHECK(applied.code == 1);
    CHECK(has(applied.out, "by hand: the script is left as it is: line "));
    CHECK(!has(applied.out, "the agent does this"));
    CHECK(system.tree.read("/etc/rc.local") == script);
  }
}

TEST_CASE("a script that runs at other times than the boot is named and never edited") {
  const MigrateSystem system{"exit 0\n"};
  const std::string hook =
      "#!/bin/sh\n/usr/local/sbin/again\nmodprobe vmw_pvrdma\nmodprobe ib_umad\n";
  const std::string path = "/etc/NetworkManager/dispatcher.d/99-rdma";
  system.tree.file(path, hook);
  system.tree.program("/usr/local/sbin/again", "modprobe -r vmw_pvrdma\n");
  CHECK(system.applied().code == 0);  // the script is not executable
  ::chmod(system.path(path).c_str(), 0755);
  const fake::Printed applied = system.applied();
  CHECK(applied.code == 1);
  for (const char* part :
       {"/etc/NetworkManager/dispatcher.d/99-rdma: run when a link changes\n",
        "  3     modprobe vmw_pvrdma\n        by hand: it runs whenever a link changes",
        "  4     modprobe ib_umad\n        it is harmless",
        "/usr/local/sbin/again, run by /etc/NetworkManager/dispatcher.d/99-rdma: run when a link"})
    CHECK(has(applied.out, part));
  CHECK(system.tree.read(path) == hook);
  CHECK(!std::filesystem::exists(system.tree / "/var/lib/pvrdma-agent"));
  const Json file = Json::parse(system.run(false, false, true).out)["files"][0];
  CHECK(file["when"] == "run when a link changes");
  CHECK(file["at_boot"] == false);
  // A script that only loads modules is not named.
  system.tree.file(path, "#!/bin/sh\nmodprobe ib_umad\n");
  CHECK(system.shown().code == 0);
}

TEST_CASE("a list of modules with vmw_pvrdma, or with carriage returns, is left to a person") {
  const MigrateSystem system{"exit 0\n"};
  for (const auto& [list, code] : {std::pair{"loop\nib_umad\n", 0},
                                   {"ib_umad\nvmw_pvrdma\n", 1},
                                   {"ib_umad\r\n", 1},
                                   {"loop\n", 0}}) {
    system.tree.file("/etc/modules-load.d/rdma.conf", list);
    CHECK(system.shown().code == code);
    const fake::Printed applied = system.applied();
    CHECK(applied.code == code);
    CHECK(has(applied.out, "by hand") == (code == 1));
    CHECK(system.tree.read("/etc/modules-load.d/rdma.conf") == list);
  }
}

TEST_CASE("no configuration is printed that the agent would refuse") {
  const auto toml_for = [](const std::string& lines) {
    const MigrateSystem system{"#!/bin/sh\nmodprobe vmw_pvrdma\n" + lines};
    std::string toml = Json::parse(system.run(false, false, true).out)["toml"];
    const auto tree = toml_tree::parse(toml, "file");
    INFO(toml.substr(0, 1000));
    REQUIRE(tree.has_value());
    ConfigDraft draft;
    REQUIRE(draft.add(*tree, "file").has_value());
    REQUIRE(std::move(draft).finish().has_value());
    return toml;
  };
  const auto times = [](int many, const std::string& before, const std::string& after) {
    std::string lines;
    for (int at = 0; at < many; ++at) lines += before + std::to_string(at) + after + "\n";
    return lines;
  };
  const std::string by_hand = "# By hand, as the configuration refuses this:\n# ";
  // A line of more than 4 KiB, of places and of addresses.
  CHECK(
      toml_for(times(400, "ip link set ens224 mtu 9000 # ", "")).starts_with("[[adapter]]  # in"));
  CHECK(toml_for(times(200, "ip addr add 10.0.", ".1/24 dev ens224"))
            .starts_with(by_hand + "ens224, /etc/rc.local:3, "));
  // More than 2000 values, or 1000 brackets.
  const std::string many = toml_for(times(300, "ip link set ens", " mtu 9000"));
  CHECK(has(many, "netdev = \"ens63\""));
  CHECK(has(many, by_hand + "and 236 more interfaces\n"));
  // What the tables say of each other.
  const std::string subnet =
      toml_for("ip addr add 10.0.0.1/24 dev a\nip addr add 10.0.0.2/24 dev b\n");
  CHECK(has(subnet, "netdev = \"a\""));
  CHECK(has(subnet, by_hand + "b, /etc/rc.local:4: "));
  CHECK(has(subnet, "must not share a subnet"));
}
