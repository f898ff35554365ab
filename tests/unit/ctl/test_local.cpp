// SPDX-License-Identifier: GPL-2.0-or-later
// The look without an agent, at a tree without RDMA.
#include <filesystem>
#include <fstream>

#include "agent/ctl/local.hpp"
#include "agent/ctl/rendering.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/fake_agent.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::ctl;

TEST_CASE("a machine without an adapter is absent, and there is nothing to do") {
  const fake::Directory directory;
  std::filesystem::create_directories(directory / "sys/bus/pci/devices");
  std::filesystem::create_directories(directory / "proc");
  std::ofstream{directory / "proc/modules"} << "";
  const auto look = look_locally(Root{directory / ""});
  CHECK(look.health.state == State::Absent);
  CHECK(render_status(look.health, Style{}) == "no PVRDMA adapter\n");
  CHECK(look.plan.actions.empty());
}

TEST_CASE("a ledger that cannot be read is not an empty one") {
  const fake::Directory directory;
  std::filesystem::create_directories(directory / "run/pvrdma-agent-executor");
  CHECK_FALSE(observe_locally(Root{directory / ""}, {}).ledger_error);
  std::ofstream{directory / "run/pvrdma-agent-executor/ledger.json"} << "{";
  const auto error = observe_locally(Root{directory / ""}, {}).ledger_error;
  REQUIRE(error);
  CHECK(error->message().find("ledger") != std::string::npos);
}

TEST_CASE("with an invalid configuration the look tells its fault, and all else") {
  const fake::Directory directory;
  std::filesystem::create_directories(directory / "etc/pvrdma-agent");
  std::ofstream{directory / "etc/pvrdma-agent/pvrdma-agent.toml"}
      << "[modules]\nreload = \"sometimes\"\n";
  std::filesystem::create_directories(directory / "sys/bus/pci/devices");
  std::filesystem::create_directories(directory / "proc");
  std::ofstream{directory / "proc/modules"} << "";
  const auto look = look_locally(Root{directory / ""});
  for (const auto& findings : {look.health.findings, look.plan.findings}) {
    REQUIRE_FALSE(findings.empty());
    CHECK(findings.front().id == FindingId::ConfigBad);
    CHECK(findings.front().summary.find("pvrdma-agent.toml:2") != std::string::npos);
  }
  CHECK(look.health.state == State::Absent);
}

TEST_CASE("the plan without an agent is the one after the wait for network managers") {
  Snapshot snapshot = test::ready_scene();
  test::netdev(snapshot).owner = LinkOwner{LinkManager::Networkd, false, {}};
  LoadedConfig loaded;
  loaded.config.every_adapter.mtu = 9000;
  CHECK(conclude_locally(loaded, snapshot).plan.actions.size() == 1);
}

TEST_CASE("without an agent a customization counts as one that has just begun") {
  Snapshot snapshot = test::ready_scene();
  snapshot.customization = std::string{"cloud-init's network stage"};
  LoadedConfig loaded;
  loaded.config.every_adapter.addresses = {"192.168.30.5/24"};
  const auto look = conclude_locally(loaded, snapshot);
  CHECK(test::finding(look.health.findings, FindingId::CustomizationAwaited) != nullptr);
  CHECK(test::finding(look.health.findings, FindingId::CustomizationLate) == nullptr);
  CHECK(look.health.state == State::Converging);
  CHECK(look.plan.actions.empty());
}
