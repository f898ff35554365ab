// Rule 4: addresses of ours that go, come back, or stay for a job that holds the adapter.
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

constexpr const char* kOurs = "192.168.30.201/24";

Config addressed(std::vector<std::string> addresses) {
  Config config;
  config.adapters = {
      {{std::nullopt, "0000:00:10.0", std::nullopt}, Manage::Auto, {}, std::move(addresses)}};
  return config;
}

Holder job_on(const Snapshot& snapshot, unsigned index) {
  return {7, "job", snapshot.adapters.get()->at(index).rdma.get()->name};
}

}  // namespace

TEST_CASE("rule 4: an address that a job may use stays until the job has ended") {
  Snapshot snapshot = ready_scene(2);
  netdev(snapshot).addresses = {{kOurs, true}};
  CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink 0000:00:10.1"});

  SECTION("held") {
    snapshot.holders = std::vector<Holder>{job_on(snapshot, 0)};
    const Plan plan = plan_settled(snapshot);
    CHECK(plan.actions.empty());
    const Finding* waits = finding(plan.findings, FindingId::AddressWaits);
    REQUIRE(waits != nullptr);
    CHECK(waits->summary.find(std::string{kOurs} + " is no longer configured") == 0);
    CHECK(waits->summary.find("job (PID 7)") != std::string::npos);
    CHECK(waits->holders == *snapshot.holders.get());
    snapshot.holders = std::vector<Holder>{};
    CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink 0000:00:10.1"});
  }
  SECTION("the other adapter is held") {
    snapshot.holders = std::vector<Holder>{job_on(snapshot, 1)};
    CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink 0000:00:10.1"});
  }
  SECTION("held by what cannot be named, or may be") {
    SECTION("a process of another PID namespace") {
      snapshot.holders = std::vector<Holder>{{0, "", ""}};
    }
    SECTION("who holds the adapters is not known") {
      snapshot.holders = Field<std::vector<Holder>>::unreadable({13, "reading", "/proc"});
    }
    SECTION("the reference count alone knows") { module(snapshot, kDriverModule).refcount = 1U; }
    SECTION("the RDMA device cannot be seen, and the driver is used") {
      adapter(snapshot).rdma = {};
      netdev(snapshot).carrier = false;  // else it would be reloaded
      snapshot.holders = std::vector<Holder>{job_on(snapshot, 1)};
      module(snapshot, kDriverModule).refcount = 2U;
    }
    const Plan plan = plan_settled(snapshot);
    CHECK(finding(plan.findings, FindingId::AddressWaits) != nullptr);
    CHECK(described(plan).empty());
  }
  SECTION("others are set meanwhile") {
    snapshot.holders = std::vector<Holder>{job_on(snapshot, 0)};
    const Plan plan = plan_settled(snapshot, addressed({"192.168.30.202/24"}));
    REQUIRE(plan.actions.size() == 1);
    CHECK(plan.actions.front().reason.find("192.168.30.202/24 is configured") == 0);
    CHECK(finding(plan.findings, FindingId::AddressWaits) != nullptr);
  }
}
