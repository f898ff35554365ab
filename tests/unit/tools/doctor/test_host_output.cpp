// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output` on pasted output, unchanged and spoiled.
#include <algorithm>

#include "agent/tools/doctor/host_output/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/doctor/pasted.hpp"

using namespace pvrdma;
using doctor::HostPart;
using doctor::HostReading;
using doctor::HostRemark;
using doctor::judge_host_output;
using doctor::Weight;
using test::fixture;
using test::kGuest;
using test::lines_of;
using test::remark_of;
using test::replaced;
using test::required_of;

TEST_CASE("a host without a fault, in each form of white space") {
  const std::string good = fixture("good.txt");
  const std::vector<std::string> expected{
      "info rdma-devices 5: vmrdma1 (nmlx5_rdma): the link of its uplink vmnic5 is Down",
      "info nics 36: vmnic5 is Down",
      "good statistics 7: vmrdma0: no errors",
      "good vmknic 17: Net.PVRDMAVmknic is vmk1",
      "good properties 38: ens224f0, 2101234_0: Physical HCA available: 1",
      "good properties 38: ens224f0, 2101234_0: RoCE version: 2",
      "info properties 38: ens224f0, 2101234_0: native endpoints: no, with vMotion: no, namespace: "
      "no",
      "good firewall 30: rule set pvrdma is enabled",
      "good rdma-devices 4: vmrdma0 is Active, paired with vmnic4",
      "good nics 35: vmnic4 is Up, MTU 9000"};
  for (const std::string& text :
       {good, replaced(good, "\n", "\r\n"), "\xef\xbb\xbf" + good, replaced(good, "  ", "\t")}) {
    const HostReading reading = judge_host_output(text, kGuest);
    auto lines = lines_of(reading);
    std::sort(lines.begin(), lines.end());
    auto sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    CHECK(lines == sorted);
    CHECK(required_of(reading).empty());
    CHECK(reading.unknown.empty());
    CHECK(ctl::code_of(reading) == 0);
  }
}

TEST_CASE("without prompts and blank lines between it, the same is found") {
  std::string text;
  std::istringstream lines{fixture("good.txt")};
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("[root")) text += line + "\n";
  const HostReading reading = judge_host_output(text, kGuest);
  CHECK(reading.remarks.size() == 10);
  CHECK(required_of(reading).empty());
  CHECK(reading.unknown.empty());
  CHECK(remark_of(reading, HostPart::Statistics).says == "no errors");
}

TEST_CASE("a list whose rows were not pasted is missing") {
  std::istringstream lines{fixture("good.txt")};
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("vmnic")) text += line + "\n";
  const HostReading reading = judge_host_output(text, kGuest);
  CHECK(required_of(reading) == std::vector<std::string>{"nics"});
  CHECK(ctl::code_of(reading) == ctl::kExitUnknown);
}

TEST_CASE("a host with each fault: the faults, and the remedies") {
  const HostReading reading = judge_host_output(fixture("trouble.txt"), kGuest);
  CHECK(lines_of(reading) ==
        std::vector<std::string>{
            "change properties 5: 2204321_1: Physical HCA available: 0",
            "change statistics 16: vmrdma0: Error packets received: 17",
            "change vmknic 22: Net.PVRDMAVmknic is not set",
            "change firewall 32: rule set pvrdma is not enabled",
            "change rdma-devices 12: vmrdma0 (nmlx5_rdma): the link of its uplink vmnic4 is Down",
            "change rdma-devices 13: vmrdma1 (nmlx5_rdma): it is paired with no uplink",
            "info nics 37: vmnic4 is Down"});
  CHECK(
      remark_of(reading, HostPart::Vmknic).commands ==
      std::vector<std::string>{"esxcli system settings advanced set -o /Net/PVRDMAVmknic -s vmk0"});
  CHECK(remark_of(reading, HostPart::Firewall).commands ==
        std::vector<std::string>{"esxcli network firewall ruleset set -e true -r pvrdma"});
  CHECK(remark_of(reading, HostPart::Statistics).commands ==
        std::vector<std::string>{"esxcli rdma device stats get -d vmrdma0"});
  REQUIRE(reading.unknown.size() == 2);
  CHECK(reading.unknown[0].line == 1);
  CHECK(reading.unknown[0].lines == 2);
  CHECK(reading.unknown[1].begins == "Regards");
  CHECK(ctl::code_of(reading) == 1);
}

TEST_CASE("esxcli prints nothing where the host has no RDMA device") {
  const HostReading reading = judge_host_output(fixture("no-device.txt"), kGuest);
  const HostRemark& none = remark_of(reading, HostPart::RdmaDevices);
  CHECK(none.weight == Weight::Change);
  CHECK(none.says.find("nmlx5_rdma may not be loaded") != std::string::npos);
  CHECK(none.commands.back() == "esxcli system module load -m nmlx5_rdma");
  CHECK(remark_of(reading, HostPart::Firewall).weight == Weight::Good);
  CHECK(required_of(reading) == std::vector<std::string>{"properties", "vmknic"});
  // Each NIC that may be the one is named, and i40en's speak iWARP alone.
  const auto several = remark_of(
      judge_host_output("[root@esx:~] esxcli rdma device list\n[root@esx:~] esxcfg-nics -l\n"
                        "Name    PCI          Driver      Link Speed      Duplex MAC Address       "
                        "MTU    Description\n"
                        "vmnic0  0000:01:00.0 i40en       Up   10000Mbps  Full   "
                        "02:00:5e:10:00:01 1500   X710\n"
                        "vmnic2  0000:02:00.0 icen        Up   10000Mbps  Full   "
                        "02:00:5e:10:00:02 1500   E810\n"
                        "vmnic4  0000:03:00.0 nmlx5_core  Up   10000Mbps  Full   "
                        "02:00:5e:10:00:03 1500   ConnectX\n"
                        "vmnic5  0000:03:00.1 nmlx5_core  Up   10000Mbps  Full   "
                        "02:00:5e:10:00:04 1500   ConnectX\n",
                        {}),
      HostPart::RdmaDevices);
  CHECK(several.says ==
        "the host has no RDMA device; vmnic4, vmnic5 have the driver nmlx5_core, whose RDMA half "
        "nmlx5_rdma may not be loaded; vmnic2 has the driver icen, whose RDMA half irdman may not "
        "be loaded; its LAN driver icen needs the parameter RDMA as well, and a restart of the "
        "host");
  CHECK(several.commands == std::vector<std::string>{"esxcli system module list",
                                                     "esxcli system module load -m nmlx5_rdma",
                                                     "esxcli system module load -m irdman"});
  // The paste may have been cut off at this line.
  const HostReading cut = judge_host_output("[root@esx:~] esxcli rdma device list\n", {});
  CHECK(cut.remarks.empty());
  CHECK(required_of(cut).size() == 5);
}

TEST_CASE("one thing spoiled at a time") {
  struct Spoiled {
    const char* from;
    const char* to;
    HostPart part;
    Weight weight;
  };
  const std::vector<Spoiled> table{
      {"available:1", "available:yes", HostPart::Properties, Weight::Unknown},
      {"String Value: vmk1", "String Value: 1", HostPart::Vmknic, Weight::Change},
      {"   String Value: vmk1\n", "", HostPart::Vmknic, Weight::Unknown},
      {"pvrdma     true", "pvrdma    maybe", HostPart::Firewall, Weight::Unknown},
      {"pvrdma     true", "sshCli     true", HostPart::Firewall, Weight::Unknown},
      {"in ERR state: 0", "in ERR state: 3", HostPart::Statistics, Weight::Change},
      {"Error packets sent: 0", "Packets dropped: 1", HostPart::Statistics, Weight::Change},
      {"Active", "Armed ", HostPart::RdmaDevices, Weight::Change},
      {"9000", "8000", HostPart::Nics, Weight::Change},
      {"9000", "   ?", HostPart::Nics, Weight::Unknown},
      {"vmnic4  0000", "vmnic9  0000", HostPart::RdmaDevices, Weight::Info}};
  for (const Spoiled& one : table) {
    INFO(one.from << " -> " << one.to);
    const HostReading reading =
        judge_host_output(replaced(fixture("good.txt"), one.from, one.to), kGuest);
    CHECK(remark_of(reading, one.part).weight == one.weight);
    if (one.weight == Weight::Change) {
      CHECK(reading.remarks.front().part == one.part);
      CHECK_FALSE(reading.remarks.front().commands.empty());
      CHECK(ctl::code_of(reading) == 1);
    }
  }
  // Of two devices that work it is enough that one has the MTU.
  const std::string both = replaced(replaced(fixture("good.txt"), "Down    1024", "Active  1024"),
                                    "Up            Down   ", "Up            Up     ");
  const HostReading spare = judge_host_output(both, kGuest);
  CHECK(remark_of(spare, HostPart::Nics).weight == Weight::Info);
  CHECK(ctl::code_of(spare) == 0);
  // Without a guest's MTU there is no comparison.
  const auto alone = judge_host_output(replaced(fixture("good.txt"), "9000", "1400"), {});
  CHECK(ctl::code_of(alone) == 0);
}

TEST_CASE("a missing part is named with the command that prints it") {
  const std::string text = fixture("good.txt");
  const HostReading reading =
      judge_host_output(text.substr(0, text.find("[root@esx01:~] esxcli rdma device stats")), {});
  CHECK(required_of(reading) ==
        std::vector<std::string>{"properties", "vmknic", "firewall", "nics"});
  CHECK(reading.missing[1].command == "esxcli rdma device stats get -d vmrdma0");
  CHECK(ctl::code_of(reading) == 3);
  const std::string screen = ctl::render_host_output(reading, {});
  CHECK(screen.starts_with("INCOMPLETE"));
  CHECK(screen.find("esxcli network nic list") != std::string::npos);
  // The user copies the command, so a name from the paste does not get into it.
  const HostReading hostile = judge_host_output(replaced(text, "vmrdma0 ", "$(false)"), {});
  for (const HostRemark& remark : hostile.remarks)
    for (const std::string& command : remark.commands)
      CHECK(command.find('$') == std::string::npos);
}

TEST_CASE("unknown text is reported as unknown, in printable form") {
  const HostReading reading = judge_host_output(
      "\x1b]31mno\x1b[0m such thing\nmore\n\nColour: red\nShape: round\n\nA  B\n-  --\n1  2\n", {});
  REQUIRE(reading.unknown.size() == 3);
  CHECK(reading.unknown[0].lines == 2);
  CHECK(reading.unknown[1].line == 4);
  CHECK(reading.unknown[2].line == 7);
  const std::string screen = ctl::render_host_output(reading, {});
  CHECK(screen.starts_with("UNKNOWN"));
  CHECK(screen.find('\x1b') == std::string::npos);
  CHECK(screen.find("line 1: \\x1b]31mno such thing") != std::string::npos);
  CHECK(ctl::code_of(judge_host_output("", {})) == 3);
}
