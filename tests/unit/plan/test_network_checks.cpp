// SPDX-License-Identifier: GPL-2.0-or-later
// Findings about the adapters' networks.
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const Finding* found(const Snapshot& snapshot, FindingId id, const Config& config = {}) {
  static Plan result;
  result = plan_settled(snapshot, config);
  return finding(result.findings, id);
}

}  // namespace

TEST_CASE("networks: two adapters in one subnet") {
  Snapshot snapshot = ready_scene(3);
  netdev(snapshot, 0).addresses = {{"fe80::1/64"}, {"192.168.30.1/24"}};
  netdev(snapshot, 1).addresses = {{"fe80::2/64"}, {"192.168.31.1/24"}};
  netdev(snapshot, 2).addresses = {{"fe80::3/64"}, {"fd00::1/64"}};
  // A Router Advertisement gives each interface of its link such an address.
  netdev(snapshot, 1).addresses.push_back({"fd00::2/64"});
  CHECK(found(snapshot, FindingId::SameSubnet) == nullptr);
  netdev(snapshot, 2).addresses.push_back({"192.168.30.9/24"});
  REQUIRE(found(snapshot, FindingId::SameSubnet) != nullptr);
  CHECK(found(snapshot, FindingId::SameSubnet)->adapter == function_of(2));
  CHECK(found(snapshot, FindingId::SameSubnet)->summary.find("ens12 (192.168.30.9/24)") !=
        std::string::npos);
}

TEST_CASE("networks: a default route over an adapter is noted, without a warning") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).default_route = false;
  CHECK(found(snapshot, FindingId::DefaultRoute) == nullptr);
  netdev(snapshot).default_route = true;
  REQUIRE(found(snapshot, FindingId::DefaultRoute) != nullptr);
  CHECK(found(snapshot, FindingId::DefaultRoute)->severity == Severity::Info);
}

TEST_CASE("networks: an address outside the configured subnets") {
  Snapshot snapshot = ready_scene();
  Config config;
  config.adapters = {
      {{std::nullopt, "0000:00:10.0", std::nullopt}, Manage::Auto, {}, {"192.168.30.201/24"}}};
  netdev(snapshot).addresses = {{"192.168.30.201/24"},
                                {"192.168.30.9/24"},
                                {"fe80::1/64"},
                                {"fd00::1/64"},
                                {"169.254.1.1/16"}};
  CHECK(found(snapshot, FindingId::AddressOutside, config) == nullptr);
  netdev(snapshot).addresses.push_back({"10.0.0.1/8"});
  REQUIRE(found(snapshot, FindingId::AddressOutside, config) != nullptr);
  CHECK(found(snapshot, FindingId::AddressOutside, config)->summary.find("10.0.0.1/8") !=
        std::string::npos);
  CHECK(found(snapshot, FindingId::AddressOutside) == nullptr);  // nothing is configured
}

TEST_CASE("networks: an adapter that is the VM's first NIC") {
  Snapshot snapshot = ready_scene(2);
  CHECK(found(snapshot, FindingId::FirstNic) == nullptr);
  snapshot.first_nic = std::string{"0000:00:03.0"};
  CHECK(found(snapshot, FindingId::FirstNic) == nullptr);
  snapshot.first_nic = adapter(snapshot, 0).net_function;
  REQUIRE(found(snapshot, FindingId::FirstNic) != nullptr);
  CHECK(found(snapshot, FindingId::FirstNic)->adapter == function_of(0));
  CHECK(found(snapshot, FindingId::FirstNic)->severity == Severity::Info);
}
