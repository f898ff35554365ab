// SPDX-License-Identifier: GPL-2.0-or-later
// `doctor --host-output` on flow control and the drivers of the host's NICs.
#include "agent/tools/doctor/host_output/judgement.hpp"
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

TEST_CASE("priority flow control takes the place of global flow control") {
  const std::string off =
      replaced(fixture("lists.txt"), "true      true      true", "true     false     false");
  const auto weight_with = [&](const std::string& options) {
    return remark_of(judge_host_output(replaced(off, "options = ''", "options = '" + options + "'"),
                                       kGuest),
                     HostPart::FlowControl)
        .weight;
  };
  for (const char* on : {"pfctx=0x08 pfcrx=0x08", "pfcrx=8 pfctx=8", "pfctx=0x8"})
    CHECK(weight_with(on) == Weight::Info);
  for (const char* none : {"pfctx=0x00 pfcrx=0x08", "pfctx=0x0 pfcrx=0x0", "pfctx=0", "pfctx=00",
                           "pfctx=", "pfcrx=0x08"})
    CHECK(weight_with(none) == Weight::Change);
  // Only the driver's options settle it.
  const auto asks = [](const std::string& text) {
    return remark_of(judge_host_output(text, kGuest), HostPart::FlowControl)
               .means.find("`esxcfg-module -g nmlx5_core`, pasted as well") != std::string::npos;
  };
  CHECK(asks(off));
  CHECK_FALSE(asks(replaced(off, "nmlx5_rdma enabled", "nmlx5_core enabled")));
}

TEST_CASE("an RDMA driver is missing where the host has a NIC for it and no device works") {
  const std::string modules =
      "Name        Is Loaded  Is Enabled\n----------  ---------  ----------\n"
      "irdman          false        true\n";
  const auto judged = [&](const std::string& nics) {
    return remark_of(judge_host_output(nics + modules, {}), HostPart::Modules);
  };
  const auto with_driver = [](const std::string& driver) {
    return "Name    PCI Device    Driver      Admin Status  Link Status  Speed  Duplex  MTU\n"
           "------  ------------  ----------  ------------  -----------  -----  ------  ----\n"
           "vmnic4  0000:5e:00.0  " +
           driver + "  Up            Up           25000  Full    9000\n\n";
  };
  CHECK(judged(with_driver("icen      ")).weight == Weight::Change);
  CHECK(judged(with_driver("icen      ")).commands ==
        std::vector<std::string>{"esxcli system module load -m irdman"});
  CHECK(judged(with_driver("icen      ")).means.find("icen needs the parameter RDMA") !=
        std::string::npos);
  // Its devices speak iWARP alone.
  CHECK(judged(with_driver("i40en     ")).weight == Weight::Info);
  const auto foreign = judged(with_driver("nmlx5_core"));
  CHECK(foreign.weight == Weight::Info);
  CHECK(foreign.says == "irdman is not loaded");
  CHECK(foreign.means == "the list of NICs has none of this driver");
  CHECK(foreign.commands.empty());
  // A host loads only the drivers of its own hardware. Without the list that is not known.
  CHECK(judged("").weight == Weight::Unknown);
}

TEST_CASE("a disabled RDMA driver and missing flow control, between other text") {
  const HostReading reading = judge_host_output(
      "请检查 **Pause RX** 列\n\n# esxcli network nic pauseParams list\n"
      "NIC     Pause Params Supported  Pause RX  Pause TX\n"
      "------  ----------------------  --------  --------\n"
      "vmnic1                    true     false     false\n\n"
      "[root@localhost:/etc/rc.local.d] esxcfg-module -g nmlx5_rdma\n"
      "nmlx5_rdma enabled = 0 options = 'dscp_force=26'\n",
      {});
  CHECK(lines_of(reading) ==
        std::vector<std::string>{"change flow-control 6: vmnic1: Pause RX false, Pause TX false",
                                 "change modules 9: nmlx5_rdma is disabled"});
  CHECK(reading.remarks[0].commands ==
        std::vector<std::string>{"esxcli network nic pauseParams set -r true -t true -n vmnic1"});
  CHECK(reading.remarks[1].commands ==
        std::vector<std::string>{"esxcli system module set -e true -m nmlx5_rdma"});
  CHECK(reading.unknown.size() == 1);
}
