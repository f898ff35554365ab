// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output` on the output of several hosts, or of one host at several times.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/tools/doctor/host_output/command.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/tools/doctor/pasted.hpp"

using namespace pvrdma;
using doctor::HostPart;
using doctor::HostReading;
using doctor::judge_host_output;
using test::fixture;
using test::kGuest;
using test::replaced;
using test::required_of;

namespace {

// The remarks on one host, without line numbers.
std::vector<std::string> remarks_of(const HostReading& reading, const std::string& host) {
  std::vector<std::string> lines;
  for (const doctor::HostRemark& one : reading.remarks)
    if (one.host == host) lines.push_back(std::string{to_string(one.weight)} + " " + one.says);
  std::sort(lines.begin(), lines.end());
  return lines;
}

const std::string kNic = "[root@esx01:~] esxcli network nic list\n";

std::string nic_list(const std::string& link) {
  return "Name    Driver      Link Status  Duplex   MTU\n"
         "------  ----------  -----------  ------  ----\n"
         "vmnic4  nmlx5_core  " +
         link + std::string(13 - link.size(), ' ') + "Full    9000\n";
}

}  // namespace

TEST_CASE("each host of a text is judged by its own lists") {
  const std::string good = fixture("good.txt"), trouble = fixture("trouble.txt");
  const HostReading alone = judge_host_output(good, kGuest);
  const HostReading other = judge_host_output(trouble, kGuest);
  for (const std::string& text : {good + trouble, trouble + good}) {
    const HostReading both = judge_host_output(text, kGuest);
    CHECK(both.hosts.size() == 2);
    CHECK(remarks_of(both, "esx01") == remarks_of(alone, "esx01"));
    CHECK(remarks_of(both, "esx02") == remarks_of(other, "esx02"));
    CHECK(both.remarks.size() == alone.remarks.size() + other.remarks.size());
    CHECK(both.unknown.size() == other.unknown.size());
    CHECK(required_of(both).empty());
    CHECK(ctl::code_of(both) == 1);
    const std::string screen = ctl::render_host_output(both, {});
    CHECK(screen.starts_with("CHANGE  on the ESXi hosts: 6 things\n"));
    CHECK(screen.find("esx02: rule set pvrdma is not enabled") != std::string::npos);
    CHECK(ctl::host_output_json(both, kGuest)["remarks"][0]["host"] == "esx02");
  }
}

TEST_CASE("the parts that one of two hosts lacks are named with the host") {
  const HostReading both = judge_host_output(
      fixture("good.txt") + "[root@esx02:~] esxcli network nic list\n" + nic_list("Up"), kGuest);
  CHECK(required_of(both) ==
        std::vector<std::string>{"esx02 rdma-devices", "esx02 vmknic", "esx02 firewall"});
  CHECK(ctl::code_of(both) == ctl::kExitUnknown);
  const std::string screen = ctl::render_host_output(both, {});
  CHECK(screen.find("esxcli rdma device list    # on esx02\n") != std::string::npos);
}

TEST_CASE("an empty list of RDMA devices is that of its host") {
  const HostReading both =
      judge_host_output(fixture("good.txt") + "[root@esx02:~] esxcli rdma device list\n" +
                            "[root@esx02:~] " + kNic.substr(15) + nic_list("Up"),
                        kGuest);
  REQUIRE_FALSE(remarks_of(both, "esx02").empty());
  CHECK(remarks_of(both, "esx02").front() ==
        "change the host has no RDMA device; vmnic4 has the driver nmlx5_core, whose RDMA half "
        "nmlx5_rdma may not be loaded");
}

TEST_CASE("on a host with a name a command that is run again replaces its answer") {
  const std::string set = "   String Value: vmk1\n";
  const std::string good = fixture("good.txt");
  const std::string mended = replaced(good, set, "   String Value: \n") +
                             "\n[root@esx01:~] esxcli system settings advanced list -o "
                             "/Net/PVRDMAVmknic\n   Path: /Net/PVRDMAVmknic\n" +
                             set;
  CHECK(ctl::code_of(judge_host_output(mended, kGuest)) == 0);
  CHECK(judge_host_output(mended, kGuest).unknown.empty());
}

TEST_CASE("lists that contradict each other, of a host without a name, are not judged") {
  const std::string good = replaced(fixture("good.txt"), "[root@esx01:~]", "~ #");
  CHECK(ctl::code_of(judge_host_output(good + good, kGuest)) == 0);
  for (const char* prompt : {"~ # ", "[root@localhost:~] "}) {
    const HostReading reading =
        judge_host_output(replaced(good, "~ # ", prompt) +
                              replaced(fixture("trouble.txt"), "[root@esx02:~] ", prompt),
                          kGuest);
    std::vector<std::string> unknown;
    for (const std::string& line : test::lines_of(reading))
      if (line.starts_with("unknown")) unknown.push_back(line);
    CHECK(unknown ==
          std::vector<std::string>{
              "unknown rdma-devices 69: vmrdma0 is there twice, with other values in line 4",
              "unknown nics 94: vmnic4 is there twice, with other values in line 35",
              "unknown vmknic 79: /Net/PVRDMAVmknic is there twice, with other values in line 17",
              "unknown firewall 89: pvrdma is there twice, with other values in line 30"});
    for (const HostPart part :
         {HostPart::RdmaDevices, HostPart::Nics, HostPart::Vmknic, HostPart::Firewall})
      CHECK(std::count_if(reading.remarks.begin(), reading.remarks.end(),
                          [&](const auto& one) { return one.part == part; }) == 1);
    CHECK(required_of(reading).empty());
  }
}
