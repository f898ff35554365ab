// SPDX-License-Identifier: GPL-2.0-or-later
// Findings about [[adapter]] tables that match the same adapter, or none.
#include "agent/model/adapter_match.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("two tables for one adapter: its link stays as it is, and a finding names both") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).addresses = {{"192.168.30.201/24", true}};
  const AdapterConfig by_netdev{{{}, {}, netdev(snapshot).name}, Manage::Auto, 9000U, {}};
  Config config;
  config.adapters = {by_netdev};
  CHECK_FALSE(plan_settled(snapshot, config).actions.empty());
  config.adapters.push_back(
      {{netdev(snapshot).mac, {}, {}}, Manage::Agent, {}, {"192.168.30.201/24"}});
  for (const bool up : {true, false}) {
    netdev(snapshot).link_up = up;
    const Plan made = plan_settled(snapshot, config);
    CHECK(made.actions.empty());
    const Finding* bad = finding(made.findings, FindingId::ConfigBad);
    REQUIRE(bad != nullptr);
    CHECK(bad->severity == Severity::Warning);
    for (const AdapterConfig& entry : config.adapters)
      CHECK(bad->summary.find(to_string(entry.match)) != std::string::npos);
  }
}

TEST_CASE(
    "an [[adapter]] that matches nothing is reported once the names of all interfaces are known") {
  Snapshot snapshot = ready_scene(2);
  History history = long_settled(snapshot);
  history.adapters[function_of(1)].changed = kNow;
  Config config;
  const auto by_mac = AdapterMatch{"00:50:56:00:00:99", {}, {}};
  const auto by_netdev = AdapterMatch{{}, {}, "ens99"};
  const auto by_pci = AdapterMatch{{}, "0000:99:00.1", {}};
  const auto is_told = [&](const AdapterMatch& match, BootTime now = kNow) {
    config.adapters = {{match, Manage::Auto, {}, {}}};
    return finding(plan(config, snapshot, history, now).findings,
                   FindingId::ConfigMatchesNothing) != nullptr;
  };
  for (const AdapterMatch& match : {by_mac, by_netdev, by_pci}) CHECK(is_told(match));
  SECTION("an interface before vmxnet3 is loaded") {
    module(snapshot, kNetModule) = unloaded(kNetModule);
    adapter(snapshot, 1).net_driver = {};
    adapter(snapshot, 1).netdev = {};
    CHECK_FALSE(is_told(by_mac));
    CHECK_FALSE(is_told(by_netdev));
    CHECK(is_told(by_pci));
  }
  SECTION("an interface that cannot be read") {
    adapter(snapshot, 1).netdev = Field<Netdev>::unreadable({5, "asking about", "ens11"});
    CHECK_FALSE(is_told(by_mac));
    CHECK_FALSE(is_told(by_netdev));
  }
  SECTION("an interface before udev has renamed it, for a bounded time") {
    netdev(snapshot, 1).settled = false;
    CHECK(is_told(by_mac));
    CHECK_FALSE(is_told(by_netdev));
    const auto next_look = plan(config, snapshot, history, kNow).next_look;
    REQUIRE(next_look);
    CHECK(is_told(by_netdev, *next_look));
  }
  SECTION("a function that will never have an interface") {
    adapter(snapshot, 1).net_driver = {};
    adapter(snapshot, 1).netdev = {};
    history.adapters[function_of(1)].changed = BootTime{};
    CHECK(is_told(by_mac));
  }
}
