// SPDX-License-Identifier: GPL-2.0-or-later
// The properties of adapters, as vsish prints them on an ESXi host.
#include "agent/tools/survey/host_properties.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;
using pvrdma::adapter_properties;
using pvrdma::AdapterProperties;

namespace {

std::string properties(const char* mac, const char* index) {
  return "PVRDMA Device Properties {\n   VMM leader ID of VM:2101234\n   adapter index:" +
         std::string{index} + "\n   MAC address:" + mac +
         "\n   Physical HCA available:1\n   Namespace allocated:0\n   Hardware S/R available:0\n"
         "   MR tracing available:0\n   SRQ support enabled:1\n   MR Key extension enabled:0\n"
         "   Phys handles enabled:0\n   Native endpoints supported:0\n"
         "   Native vmotion supported:0\n   DMA accelerator enabled:0\n"
         "   DMA accelerator transfer threshold:32768\n   Prefer RoCE v1 over v2:0\n"
         "   RoCE version:2\n   Active MTU:1024\n}\n";
}

}  // namespace

TEST_CASE("each adapter's properties, with and without the command") {
  const auto both = adapter_properties(
      "[root@esx:~] vsish -e cat /vmkModules/vrdma/pvrdmaDevices/7_1/properties\n" +
      properties("00:50:56:AA:BB:CC", "1") + properties("00:50:56:aa:bb:dd", "0"));
  REQUIRE(both.size() == 2);
  const AdapterProperties& one = both[0];
  CHECK(one.line == 2);
  CHECK(one.node == "7_1");
  CHECK(one.host == "esx");
  CHECK(one.mac == "00:50:56:aa:bb:cc");
  CHECK(one.index == 1U);
  CHECK(one.physical_hca == true);
  CHECK(one.namespace_allocated == false);
  CHECK(one.native_endpoints == false);
  CHECK(one.native_vmotion == false);
  CHECK(one.prefers_roce_v1 == false);
  CHECK(one.roce_version == 2U);
  CHECK(one.active_mtu == 1024U);
  CHECK(both[1].mac == "00:50:56:aa:bb:dd");
  const auto bare = adapter_properties(properties("00:50:56:aa:bb:cc", "0"));
  REQUIRE(bare.size() == 1);
  CHECK(bare[0].node == "2101234_0");
}

TEST_CASE("what the text does not tell is absent") {
  CHECK(adapter_properties("").empty());
  CHECK(adapter_properties("MAC address:00:50:56:aa:bb:cc\n").empty());
  const auto odd = adapter_properties("Physical HCA available:yes\nRoCE version:\n");
  REQUIRE(odd.size() == 1);
  CHECK(odd[0].node.empty());
  CHECK(odd[0].mac.empty());
  CHECK_FALSE(odd[0].physical_hca);
  CHECK_FALSE(odd[0].roce_version);
}
