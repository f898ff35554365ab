// SPDX-License-Identifier: GPL-2.0-or-later
// Modules that modprobe.d keeps from being loaded: how grave that is, and that the finding comes
// once.
#include "agent/tools/doctor/surroundings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/ctl/samples.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/tools/doctor/diagnosed.hpp"
#include "tests/unit/tools/doctor/doctor_scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("a module that is blocked is loaded, required or neither") {
  Snapshot snapshot = ready_scene(1);
  Survey survey = good_survey();
  const auto of = [&](const char* name) {
    survey.blocks = std::vector<ModuleBlock>{{name, "a line"}};
    const auto findings = doctor::surroundings({}, snapshot, survey);
    REQUIRE(findings.size() == 1);
    return std::string{to_string(findings.front().severity)} + ": " + findings.front().summary;
  };
  const std::string loaded = " is loaded, but is kept from being loaded again: a line.";
  const std::string blocked = " is kept from being loaded: a line.";
  CHECK(of("vmw_pvrdma") == "warning: vmw_pvrdma" + loaded);
  for (const char* name : {"vmw_pvrdma", "rdma_cm"}) {
    module(snapshot, name).init = {};
    CHECK(of(name) == std::string{"error: "} + name + blocked);
  }
  CHECK(of("ib_umad") == "warning: ib_umad" + loaded);
  module(snapshot, "ib_umad").init = {};
  CHECK(of("ib_umad") == "warning: ib_umad" + blocked);
}

TEST_CASE("a block of the driver that is loaded leaves RDMA usable") {
  const Tree tree;
  good_machine(tree);
  tree.file("/sys/module/vmw_pvrdma/initstate", "live\n");
  tree.file("/etc/modprobe.d/site.conf", "blacklist vmw_pvrdma\n");
  const fake::Directory directory;
  const fake::Agent agent{directory / "socket", with_health(samples::ready())};
  const Diagnosed found = diagnose(tree, directory / "socket");
  CHECK(found.code == 1);
  REQUIRE(found.json()["findings"].size() == 1);
  CHECK(found.json()["findings"][0]["id"] == "module-blocked");
}

TEST_CASE("a block that the agent has found comes once") {
  const Tree tree;
  good_machine(tree);
  tree.file("/etc/modprobe.d/site.conf", "blacklist rdma_cm\n");
  Json health = samples::ready();
  Json finding = samples::finding("module-blocked", "error", "It is blocked.", "Take it out.");
  finding["evidence"]["values"] = {{"module", "rdma_cm"}, {"how", "a line"}};
  health["findings"].push_back(finding);
  const fake::Directory directory;
  const auto found = [&] {
    const fake::Agent agent{directory / "socket", with_health(health)};
    return diagnose(tree, directory / "socket").json()["findings"];
  };
  REQUIRE(found().size() == 1);
  CHECK(found()[0]["summary"] == "It is blocked.");
  // An agent that may not read modprobe.d names no line.
  health["findings"][0]["evidence"]["values"].erase("how");
  CHECK(found().size() == 2);
}
