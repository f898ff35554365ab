// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration that `migrate` offers for lines that set links.
#include "agent/tools/migrate/link_settings.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/text.hpp"
#include "tests/unit/tools/migrate/migrate_system.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;
using pvrdma::test::has;
using test::MigrateSystem;

TEST_CASE("lines that set links are named, and the configuration for them is offered") {
  const MigrateSystem system{
      "#!/bin/sh\nmodprobe vmw_pvrdma\nip link set ens224f0 up mtu 9000\n"
      "ip addr add 192.168.30.201/24 dev ens224f0\n"
      "/sbin/ifconfig ens225 10.0.0.1 netmask 255.255.0.0 mtu 4000\n"
      "ip link set $DEV mtu 1500\nnetplan apply\n"};
  system.tree.file("/etc/netplan/50.yaml",
                   "network:\n  version: 2\n  ethernets:\n    ens226:\n      mtu: 9000\n");
  const fake::Printed applied = system.applied();
  CHECK(applied.code == 1);
  for (const char* part :
       {"  3     ip link set ens224f0 up mtu 9000\n        by hand", "  7     netplan apply\n",
        "[[adapter]]  # in place of /etc/rc.local:3, /etc/rc.local:4\n"
        "match = { netdev = \"ens224f0\" }\nmtu = 9000\naddresses = [\"192.168.30.201/24\"]\n",
        "match = { netdev = \"ens225\" }\nmtu = 4000\naddresses = [\"10.0.0.1/16\"]\n",
        "match = { netdev = \"ens226\" }\nmtu = 9000\n", "/etc/netplan/50.yaml goes on"})
    CHECK(has(applied.out, part));
  CHECK(!has(applied.out, "1500\""));
  // The lines are named as long as they are there, even after the recipe is gone.
  const fake::Printed later = system.run(false, false, true);
  CHECK(later.code == 1);
  const Json seen = Json::parse(later.out);
  CHECK(seen["adapters"][0]["mtu"] == 9000);
  CHECK(seen["adapters"][0]["from"] == Json{"/etc/rc.local:3", "/etc/rc.local:4"});
  // The settings in the configuration are not offered again; the offered text is a good
  // configuration.
  system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", seen["toml"].get<std::string>());
  const fake::Printed again = system.run(false, false, true);
  CHECK(again.err.empty());
  CHECK(Json::parse(again.out)["adapters"].empty());
  CHECK(!std::filesystem::exists(system.path("/etc/pvrdma-agent/pvrdma-agent.toml.d")));
}

TEST_CASE("settings in the line of a reload are offered, those of a unit's stop are not") {
  const MigrateSystem system{"exit 0\n"};
  const std::string path = "/etc/systemd/system/rdma-boot-fix.service";
  system.tree.file(path, "");
  std::filesystem::copy_file(std::string{places::fixtures} + "/field/F08-rdma-boot-fix.service",
                             system.path(path), std::filesystem::copy_options::overwrite_existing);
  system.tree.link("/etc/systemd/system/multi-user.target.wants/rdma-boot-fix.service",
                   "../rdma-boot-fix.service");
  const auto offered = [&] {
    return Json::parse(system.run(false, false, true).out)["toml"].get<std::string>();
  };
  const std::string table =
      "[[adapter]]  # in place of " + path + ":8\nmatch = { netdev = \"ens224\" }\nmtu = 9000\n";
  CHECK(offered() == table);
  std::string unit = system.tree.read(path);
  unit.replace(unit.find("ExecStop="), 9,
               "ExecStopPost=/sbin/ip link set ens224 mtu 1500\n"
               "ExecStop=/sbin/ip link set ens224 mtu 1500 ; ");
  system.tree.file(path, unit);
  CHECK(offered() == table);
}

TEST_CASE("only an interface's own addresses and MTU are offered") {
  const MigrateSystem system{
      "modprobe vmw_pvrdma\n"
      "ip -4 a add 10.0.0.1/24 dev a && ip route add 10.1.0.7/32 via 10.0.0.2 dev a mtu 1400\n"
      "ip link set b up; ip -6 route add 2001:db8:2::/64 via fe80::1 dev b\n"
      "ip address add 10.2.0.1 peer 10.2.0.2/32 dev b\n"
      "ip -f inet addr add 10.0.1.1/24 dev a; ip -n job address add 10.3.0.1/24 dev a\n"};
  const Json seen = Json::parse(system.run(false, false, true).out);
  REQUIRE(seen["adapters"].size() == 1);
  CHECK(seen["adapters"][0]["netdev"] == "a");
  CHECK(seen["adapters"][0]["mtu"].is_null());
  CHECK(seen["adapters"][0]["addresses"] == Json{"10.0.0.1/24", "10.0.1.1/24"});
}

TEST_CASE("only the links of adapters are offered, with their MAC where it is known") {
  const MigrateSystem system{
      "modprobe vmw_pvrdma\nip link set ens192 mtu 9000\nip link set ens224f0 mtu 9000\n"};
  const std::string slot = "/sys/bus/pci/devices/0000:13:00.";
  system.tree.file(slot + "0/modalias", "pci:v000015ADd000007B0sv0sd0bc02sc00i00\n");
  system.tree.file(slot + "1/modalias", "pci:v000015ADd00000820sv0sd0bc02sc80i00\n");
  system.tree.directory(slot + "0/net/ens224f0");
  system.tree.file("/sys/class/net/ens224f0/address", "00:50:56:8a:9f:c2\n");
  const fake::Printed shown = system.shown();
  CHECK(has(shown.out, "match = { netdev = \"ens224f0\" }  # mac = \"00:50:56:8a:9f:c2\"\n"));
  CHECK(!has(shown.out, "ens192"));
}

TEST_CASE("for a link that has a table no second one is offered, as only one may match") {
  const MigrateSystem system{
      "modprobe vmw_pvrdma\nip link set ens224f0 mtu 9000\n"
      "ip addr add 192.168.30.201/24 dev ens224f0\n"};
  const std::string slot = "/sys/bus/pci/devices/0000:13:00.";
  system.tree.file(slot + "0/modalias", "pci:v000015ADd000007B0sv0sd0bc02sc00i00\n");
  system.tree.file(slot + "1/modalias", "pci:v000015ADd00000820sv0sd0bc02sc80i00\n");
  system.tree.directory(slot + "0/net/ens224f0");
  for (const char* match : {"netdev = \"ens224f0\"", "pci = \"0000:13:00.1\""}) {
    const std::string table = std::string{"[[adapter]]\nmatch = { "} + match + " }\n";
    system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml", table + "mtu = 9000\n");
    const Json seen = Json::parse(system.run(false, false, true).out);
    CHECK(seen["toml"] ==
          "# By hand, as the configuration refuses this:\n# ens224f0, /etc/rc.local:2, "
          "/etc/rc.local:3: its table in the configuration lacks addresses = "
          "[\"192.168.30.201/24\"]\n");
    system.tree.file("/etc/pvrdma-agent/pvrdma-agent.toml",
                     table + "mtu = 9000\naddresses = [\"192.168.30.201/24\"]\n");
    CHECK(Json::parse(system.run(false, false, true).out)["adapters"].empty());
  }
}

TEST_CASE("netplan's files by their lines") {
  const auto links = migration::parse_netplan(
      "/f",
      "network:\n  ethernets:\n    \"a\":\n      mtu: 9000\n      nameservers:\n"
      "        addresses: [1.1.1.1/32]\n      addresses:\n      - 10.0.0.1/8\n"
      "      - \"fd00::1/64\"\n      dhcp4: no\n    b:\n      match: {macaddress: x}\n"
      "      mtu: 1500\n    c: {mtu: 1500}\n    d:\n"
      "      addresses: [10.0.0.2/8, '10.0.0.3/8'] # x\n  bonds:\n    e:\n      mtu: 1\n");
  REQUIRE(links.size() == 3);
  CHECK(links[0].netdev == "a");
  CHECK(links[0].from == std::vector<std::string>{"/f:3"});
  CHECK(links[0].mtu == 9000U);
  CHECK(links[0].addresses == std::vector<std::string>{"10.0.0.1/8", "fd00::1/64"});
  CHECK(!links[1].mtu);
  CHECK(links[2].addresses == std::vector<std::string>{"10.0.0.2/8", "10.0.0.3/8"});
}

TEST_CASE("netplan's lists in brackets over several lines, and items with a table below them") {
  const auto links = migration::parse_netplan(
      "/f",
      "network:\n  ethernets:\n    a:\n      addresses: [ # two\n        10.0.0.1/8,\n"
      "        \"fd00::1/64\"\n      ]\n      mtu: 9000\n    b:\n      addresses:\n"
      "        [10.0.0.2/8,\n         10.0.0.3/8]\n    c:\n      addresses:\n"
      "        - 10.0.0.4/8:\n            label: x\n        - \"fd00::4/64\":\n"
      "            lifetime: 0\n");
  REQUIRE(links.size() == 3);
  CHECK(links[0].addresses == std::vector<std::string>{"10.0.0.1/8", "fd00::1/64"});
  CHECK(links[0].mtu == 9000U);
  CHECK(links[1].addresses == std::vector<std::string>{"10.0.0.2/8", "10.0.0.3/8"});
  CHECK(links[2].addresses == std::vector<std::string>{"10.0.0.4/8", "fd00::4/64"});
}
