// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter and a regular NIC in one subnet.
#include <algorithm>

#include "agent/tools/doctor/surroundings.hpp"
#include "agent/tools/doctor/survey_probe.hpp"
#include "tests/unit/catch.hpp"

using namespace pvrdma;

namespace {

Adapter adapter_with(const std::string& name, const std::string& address) {
  Adapter adapter;
  adapter.function = "0000:13:00.1";
  adapter.netdev = Netdev{};
  adapter.netdev.get()->name = name;
  LinkAddress own;
  own.text = address;
  adapter.netdev.get()->addresses.push_back(own);
  own.text = "2001:db8::9/64";
  adapter.netdev.get()->addresses.push_back(own);
  return adapter;
}

std::vector<Finding> found(const std::vector<NamedAddress>& addresses) {
  Snapshot snapshot;
  snapshot.adapters = std::vector{adapter_with("ens224f0", "192.168.30.9/24"),
                                  adapter_with("ens225f0", "192.168.31.9/24")};
  Survey survey;
  survey.addresses = addresses;
  auto findings = doctor::surroundings({}, snapshot, survey);
  std::erase_if(findings, [](const Finding& one) { return one.id != FindingId::SameSubnet; });
  return findings;
}

}  // namespace

TEST_CASE("a regular NIC in an adapter's subnet is a finding of doctor's") {
  const auto findings = found({{"ens192", "192.168.30.7/24"}, {"ens161", "10.0.0.1/8"}});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].summary.find("ens224f0 (192.168.30.9/24) is in the subnet of ens192") == 0);
  CHECK(findings[0].adapter == "0000:13:00.1");
  // The agent itself compares adapters. IPv6 has no such fault.
  CHECK(found({{"ens225f0", "192.168.30.8/24"}, {"ens192", "2001:db8::1/64"}}).empty());
}

TEST_CASE("the addresses of this machine, as the kernel lists them") {
  const auto addresses = probes::interface_addresses();
  REQUIRE(addresses.is_known());
  CHECK(std::all_of(addresses.get()->begin(), addresses.get()->end(), [](const auto& one) {
    return !one.netdev.empty() && one.text.find('/') != std::string::npos && one.netdev != "lo";
  }));
}
