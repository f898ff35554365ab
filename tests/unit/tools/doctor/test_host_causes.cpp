// SPDX-License-Identifier: GPL-2.0-or-later
// The causes that doctor gives the host's administrator: from which findings, and in the order of
// the evidence.
#include "agent/model/catalogue.hpp"
#include "agent/plan/findings.hpp"
#include "agent/tools/doctor/host_causes.hpp"
#include "agent/tools/doctor/surroundings.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"
#include "tests/unit/tools/doctor/doctor_scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

TEST_CASE("another adapter's ACTIVE port speaks against causes for the whole host") {
  Snapshot snapshot = ready_scene(2);
  rdma(snapshot, 0).port.state = PortState::Down;
  const std::vector<Finding> findings{findings::port_down(adapter(snapshot, 0), true)};
  auto troubles = doctor::host_troubles(snapshot, good_survey(), findings);
  REQUIRE(troubles.size() == 1);
  CHECK(troubles[0].adapter == function_of(0));
  REQUIRE(troubles[0].causes.size() == 3);
  CHECK(troubles[0].causes[0].what.find("uplink") != std::string::npos);
  CHECK(troubles[0].causes[1].because.find("rocep0s11f1 is ACTIVE") != std::string::npos);
  rdma(snapshot, 1).port.state = PortState::Down;
  troubles = doctor::host_troubles(snapshot, good_survey(), findings);
  CHECK(troubles[0].causes[0].what.find("PVRDMAVmknic") != std::string::npos);
  CHECK_FALSE(troubles[0].causes[0].commands.empty());
}

TEST_CASE("only the host's faults become a ticket") {
  Snapshot snapshot = ready_scene(1);
  const std::vector<Finding> of_guest{
      make_finding(FindingId::ClockOff, {}, {{"offset", "9 s"}}),
      make_finding(FindingId::ProviderMissing, {}, {{"library", "/usr/lib64/libibverbs.so.1"}})};
  CHECK(doctor::host_troubles(snapshot, good_survey(), of_guest).empty());
  snapshot.adapters.get()->clear();
  const auto troubles = doctor::host_troubles(snapshot, good_survey(),
                                              doctor::surroundings({}, snapshot, good_survey()));
  REQUIRE(troubles.size() == 1);
  CHECK(troubles[0].causes[0].because.find("0000:00:0f.0, 0000:00:10.0") != std::string::npos);
  CHECK(troubles[0].causes[1].menu.find("Connect At Power On") != std::string::npos);
}

TEST_CASE("a port that stays down after a reload by hand becomes a ticket") {
  Snapshot snapshot = ready_scene(1);
  rdma(snapshot).port.state = PortState::Down;
  const Finding untried = findings::port_down(adapter(snapshot), false);
  CHECK(untried.actor == Actor::Guest);
  CHECK(doctor::host_troubles(snapshot, good_survey(), {untried}).size() == 1);
}
