// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output` on the lists that tell this VM, its adapters and its switch from others.
#include <algorithm>

#include "agent/tools/doctor/host_output/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/doctor/pasted.hpp"

using namespace pvrdma;
using doctor::HostPart;
using doctor::HostReading;
using doctor::judge_host_output;
using doctor::Weight;
using test::fixture;
using test::kGuest;
using test::lines_of;
using test::remark_of;
using test::replaced;

namespace {

HostReading lists(const std::string& from = "", const std::string& to = "") {
  const std::string text = fixture("lists.txt");
  return judge_host_output(from.empty() ? text : replaced(text, from, to), kGuest);
}

// The properties of an adapter, in the form of vsish.
std::string properties(const std::string& mac, const std::string& fields) {
  return "PVRDMA Device Properties {\n   MAC address:" + mac + "\n   Physical HCA available:1\n" +
         fields + "}\n";
}

// Both switches of lists.txt where neither is known to be this VM's.
const std::vector<std::string> kNotTold{
    "unknown switch 20: Office: uplinks vmnic1, vmnic0, MTU 1500",
    "unknown switch 43: Fabric: uplinks vmnic4, MTU 9000"};

std::vector<std::string> switch_lines(const HostReading& reading) {
  std::vector<std::string> lines = lines_of(reading);
  std::erase_if(lines, [](const std::string& line) { return !has_part(line, " switch "); });
  return lines;
}

doctor::GuestVm with_first_adapter() {
  doctor::GuestVm guest = kGuest;
  guest.first_is_adapter = true;
  return guest;
}

}  // namespace

TEST_CASE("the lists of a host: this VM, its switch, and the device that is its uplink's") {
  const HostReading reading = lists();
  CHECK(lines_of(reading) ==
        std::vector<std::string>{
            "info rdma-devices 69: vmrdma1 (irdman): it speaks iWARP, not RoCE, so it is no device "
            "for PVRDMA",
            "info nics 77: vmnic0 is Up",
            "info switch 20: Office: uplinks vmnic1, vmnic0, MTU 1500",
            "good vmknic 92: Net.PVRDMAVmknic is vmk1",
            "good firewall 90: rule set pvrdma is enabled",
            "good rules 87: rule set pvrdma: inbound TCP 28250-28761, outbound TCP 28250-28761",
            "good rdma-devices 68: vmrdma0 is Active, paired with vmnic4, RoCE v2",
            "good nics 78: vmnic4 is Up, MTU 9000",
            "good switch 43: Fabric: its uplink is vmnic4, MTU 9000",
            "good flow-control 83: vmnic4: Pause RX true, Pause TX true",
            "good modules 94: nmlx5_rdma is enabled",
            "good world-id 11: renamed node: World ID 2101234"});
  CHECK(reading.unknown.empty());
  // Only the properties are required as well, and their command has the World ID and the index.
  REQUIRE(reading.missing.size() == 2);
  CHECK(reading.missing[0].command ==
        "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/2101234_1/properties");
  CHECK(reading.missing[1].part == HostPart::Statistics);
  CHECK_FALSE(reading.missing[1].is_required);
  const auto whole = judge_host_output(
      fixture("lists.txt") + "~ # vsish\n" + properties("02:00:5e:20:00:01", ""), kGuest);
  CHECK(ctl::code_of(whole) == 0);
}

TEST_CASE("the switch of the VM's regular adapter is not that of its PVRDMA adapter") {
  const HostReading reading = lists("Client: vmnic0", "Client: renamed node.eth0");
  CHECK(lines_of(reading) == lines_of(lists()));
}

TEST_CASE("a regular NIC's switch is not the adapter's where that has no port") {
  // As where the adapter is disconnected: its port has no client.
  const std::string text =
      replaced(replaced(fixture("lists.txt"), "Client: renamed node.eth1", "Client: "),
               "Client: vmnic0", "Client: renamed node.eth0");
  doctor::GuestVm guest = kGuest;
  guest.first_is_adapter = false;
  CHECK(switch_lines(judge_host_output(text, guest)) == kNotTold);
  // Where the guest does not know its first NIC, the only port is taken for an adapter's.
  CHECK(has_part(switch_lines(judge_host_output(text, kGuest)).at(0),
                 "change switch 20: Office: 2 uplinks"));
}

TEST_CASE("the switch of the VM's only adapter, which is the VM's first NIC") {
  // The regular NIC is at Office, which has two uplinks.
  const std::string text =
      replaced(replaced(fixture("lists.txt"), "renamed node.eth1", "renamed node.eth0"),
               "Client: vmnic0", "Client: renamed node.eth1");
  doctor::GuestVm guest = with_first_adapter();
  guest.links.erase(guest.links.begin());
  CHECK(lines_of(judge_host_output(text, guest)) == lines_of(lists()));
  // With two adapters either port may be the second's.
  CHECK(switch_lines(judge_host_output(text, with_first_adapter())) == kNotTold);
}

TEST_CASE("no switch is judged where a regular NIC's may be taken for an adapter's") {
  // eth1, a regular NIC, is at Office; eth2 is at Fabric.
  const std::string text =
      replaced(replaced(fixture("lists.txt"), "renamed node.eth1", "renamed node.eth2"),
               "Client: vmnic0", "Client: renamed node.eth1");
  CHECK(switch_lines(judge_host_output(text, kGuest)) == kNotTold);
  // Several ports at one switch leave no doubt.
  const std::string at_one =
      replaced(fixture("lists.txt"), "Client: vmnic4", "Client: renamed node.eth2");
  CHECK(lines_of(judge_host_output(at_one, kGuest)) == lines_of(lists()));
  CHECK(lines_of(judge_host_output(at_one, with_first_adapter())) == lines_of(lists()));
}

TEST_CASE("statistics of a NIC and the host's interfaces are no statistics and rule sets of RDMA") {
  const HostReading nic = judge_host_output(
      fixture("lists.txt") +
          "[root@esx01:~] esxcli network nic stats get -n vmnic0\nNIC statistics for vmnic0\n"
          "   Packets received: 149901\n   Receive packets dropped: 0\n"
          "   Total receive errors: 50571\n   Receive over errors: 50571\n",
      kGuest);
  CHECK(lines_of(nic) == lines_of(lists()));
  CHECK(nic.unknown.size() == 1);
  const HostReading interfaces = judge_host_output(
      "[root@esx01:~] esxcli network ip interface list\nvmk0\n   Name: vmk0\n"
      "   MAC Address: 00:50:56:00:00:01\n   Enabled: true\n   Portset: vSwitch0\n   MTU: 1500\n",
      kGuest);
  CHECK(std::ranges::count(interfaces.missing, HostPart::Firewall, &doctor::MissingPart::part) ==
        1);
}

TEST_CASE("CSV tells the same as tables") {
  const HostReading reading = judge_host_output(fixture("csv.txt"), kGuest);
  CHECK(lines_of(reading) ==
        std::vector<std::string>{
            "info rdma-devices 4: vmrdma1 (nmlx5_rdma): the link of its uplink vmnic5 is Down",
            "info nics 12: vmnic5 is Down", "good vmknic 18: Net.PVRDMAVmknic is vmk0",
            "good firewall 15: rule set pvrdma is enabled",
            "good rdma-devices 3: vmrdma0 is Active, paired with vmnic4, RoCE v1, RoCE v2",
            "good nics 11: vmnic4 is Up, MTU 9000", "good world-id 21: node-0: World ID 2101234"});
  CHECK(reading.unknown.empty());
}

TEST_CASE("one thing of the lists spoiled at a time") {
  struct Spoiled {
    const char* from;
    const char* to;
    HostPart part;
    Weight weight;
    const char* says;
  };
  const std::vector<Spoiled> table{
      {"vmrdma0    false     true", "vmrdma0    false    false", HostPart::RdmaDevices,
       Weight::Change, "iWARP"},
      {"Uplinks: vmnic4", "Uplinks: vmnic4, vmnic5", HostPart::Switch, Weight::Change,
       "2 uplinks on this host: vmnic4, vmnic5"},
      {"Uplinks: vmnic4", "Uplinks: ", HostPart::Switch, Weight::Change, "no uplink on this host"},
      {"Uplinks: vmnic4", "Uplinks: vmnic9", HostPart::Switch, Weight::Change, "vmnic9"},
      {"   MTU: 9000", "   MTU: 1500", HostPart::Switch, Weight::Change, "MTU 1500"},
      {"   MTU: 9000\n", "", HostPart::Switch, Weight::Unknown, "MTU not told"},
      {"true      true      true", "true     false     false", HostPart::FlowControl,
       Weight::Change, "Pause RX false"},
      {"nmlx5_rdma enabled = 1", "nmlx5_rdma enabled = 0", HostPart::Modules, Weight::Info,
       "nmlx5_rdma is disabled"},
      {"28250     28761", "  443       443", HostPart::Rules, Weight::Unknown, "443-443"},
      {"Client: renamed node.eth1", "Client: ", HostPart::Switch, Weight::Unknown, "Office"},
      {"UUID: 56 4d 89 0e", "UUID: 56 4d 89 0f", HostPart::WorldId, Weight::Info, "2 VMs"},
      {"is vmk1", "is ", HostPart::Vmknic, Weight::Change, "is not set"}};
  for (const Spoiled& one : table) {
    INFO(one.from << " -> " << one.to);
    const HostReading reading = lists(one.from, one.to);
    CHECK(remark_of(reading, one.part).weight == one.weight);
    CHECK(has_part(remark_of(reading, one.part).says, one.says));
  }
}

TEST_CASE("the protocols of a device whose driver does not tell them are needed") {
  const std::string devices =
      "Name     Driver  State   MTU   Speed    Paired Uplink  Description\n"
      "-------  ------  ------  ----  -------  -------------  -----------\n"
      "vmrdma0  irdman  Active  1024  10 Gbps  vmnic0         X722\n";
  const HostReading alone = judge_host_output(devices, {});
  CHECK(remark_of(alone, HostPart::RdmaDevices).weight == Weight::Unknown);
  const auto protocols = std::find_if(
      alone.missing.begin(), alone.missing.end(),
      [](const doctor::MissingPart& missing) { return missing.part == HostPart::Protocols; });
  REQUIRE(protocols != alone.missing.end());
  CHECK(protocols->is_required);
  // Cisco prints this list with single blanks.
  const HostReading told = judge_host_output(devices +
                                                 "Device  RoCE v1 RoCE v2 iWARP\n"
                                                 "-----   ------- ------- -----\n"
                                                 "vmrdma0 false   true    true\n",
                                             {});
  CHECK(remark_of(told, HostPart::RdmaDevices).weight == Weight::Good);
}

TEST_CASE("each adapter is found by its MAC address, and its RoCE version held against its GIDs") {
  doctor::GuestVm guest = kGuest;
  const auto judged = [&](const std::string& text) { return judge_host_output(text, guest); };
  const HostReading foreign = judged(properties("02:00:5e:99:00:01", ""));
  CHECK(foreign.remarks.at(0).weight == Weight::Info);
  CHECK(foreign.remarks.at(0).means == "no adapter of this VM has this MAC address");
  CHECK(foreign.missing.at(0).part == HostPart::Properties);
  guest.links[0].mac = "02:00:5e:20:00:00";
  const HostReading one =
      judged("~ # vsish -e cat /vmkModules/vrdma/pvrdmaDevices/77_1/properties\n" +
             properties("02:00:5E:20:00:01", "   RoCE version:2\n"));
  CHECK(one.remarks.at(0).says == "ens224f0, 77_1: Physical HCA available: 1");
  CHECK(one.remarks.at(1).means == "as the GIDs of ens224f0");
  CHECK(one.missing.at(0).command ==
        "vsish -e cat /vmkModules/vrdma/pvrdmaDevices/77_0/properties");
  const HostReading other = judged(properties("02:00:5e:20:00:01", "   RoCE version:1\n"));
  CHECK(other.remarks.at(0).weight == Weight::Unknown);
  CHECK(has_part(other.remarks.at(0).means, "of the other version"));
  guest.links[1].has_roce_v1 = true;
  CHECK(judged(properties("02:00:5e:20:00:01", "   RoCE version:1\n")).remarks.at(0).weight ==
        Weight::Info);
  const HostReading native = judged(properties("02:00:5e:20:00:01",
                                               "   Namespace allocated:1\n"
                                               "   Native endpoints supported:1\n"
                                               "   Native vmotion supported:0\n"));
  CHECK(native.remarks.at(0).says ==
        "ens224f0: native endpoints: yes, with vMotion: no, namespace: yes");
  CHECK(has_part(native.remarks.at(0).means, "vMotion of this VM is not possible"));
}

TEST_CASE("statistics that tell nothing do not make a host unknown") {
  const HostReading reading = judge_host_output(
      replaced(replaced(fixture("good.txt"), "Error packets", "Packets of"), "ERR state", "X"),
      kGuest);
  CHECK(remark_of(reading, HostPart::Statistics).weight == Weight::Info);
  CHECK(ctl::code_of(reading) == 0);
}
