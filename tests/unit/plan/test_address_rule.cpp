// SPDX-License-Identifier: GPL-2.0-or-later
// Rule 4: our addresses that go, come back, or stay for a job that holds the adapter.
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
  return {7, "job", snapshot.adapters.get()->at(index).rdma_device.get()->name};
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
  SECTION("held by an unknown holder, or perhaps held") {
    SECTION("a process of another PID namespace") {
      snapshot.holders = std::vector<Holder>{{0, "", ""}};
    }
    SECTION("the holders are not known") {
      snapshot.holders = Field<std::vector<Holder>>::unreadable({13, "reading", "/proc"});
    }
    SECTION("only the reference count shows a holder") {
      module(snapshot, kDriverModule).refcount = 1U;
    }
    SECTION("the RDMA device cannot be seen, and the driver is used") {
      adapter(snapshot).rdma_device = {};
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

TEST_CASE("rule 4: a new prefix length waits for the removal of the old one") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).addresses = {{kOurs, true}};
  Config config = addressed({"192.168.30.201/25"});
  const auto asked = [&] {
    return std::get<ConfigureLink>(plan_settled(snapshot, config).actions.at(0).operation);
  };
  CHECK(asked().removes);
  CHECK(asked().addresses == Steps{"192.168.30.201/25"});

  SECTION("held: the job may use the GID, which both addresses share") {
    snapshot.holders = std::vector<Holder>{job_on(snapshot, 0)};
    const Plan plan = plan_settled(snapshot, config);
    CHECK(plan.actions.empty());
    CHECK(finding(plan.findings, FindingId::AddressWaits) != nullptr);
  }
  SECTION("a part of the configuration is missing, so nothing is removed") {
    config.complete = false;
    CHECK(plan_settled(snapshot, config).actions.empty());
  }
  SECTION("the other one is another program's, and is never removed") {
    netdev(snapshot).addresses = {{kOurs, false}};
    CHECK_FALSE(asked().removes);
  }
  SECTION("another program has a third one, so ours keeps the GID, and the new one is set beside") {
    netdev(snapshot).addresses = {{kOurs, true}, {"192.168.30.201/16", false}};
    CHECK(asked().addresses == Steps{"192.168.30.201/25"});
  }
  SECTION("another program has set the new one, so ours keeps the GID that both share") {
    netdev(snapshot).addresses = {{kOurs, true}, {"192.168.30.201/25", false}};
    CHECK(plan_settled(snapshot, config).actions.empty());
  }
}

TEST_CASE("rule 4: a request that removes addresses names those that stay") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).addresses = {{kOurs, true}, {"fd00::1/64", true}, {"192.168.30.9/24", false}};
  const Config config = addressed({"192.168.30.202/24", "fd00::1/64"});
  const auto asked = [&] {
    return std::get<ConfigureLink>(plan_settled(snapshot, config).actions.at(0).operation);
  };
  CHECK(asked().removes);
  CHECK(asked().addresses == Steps{"192.168.30.202/24", "fd00::1/64"});
  SECTION("without carrier no new one is set") {
    netdev(snapshot).carrier = false;
    CHECK(asked().removes);
    CHECK(asked().addresses == Steps{"fd00::1/64"});
  }
  SECTION("none is removed") {
    snapshot.holders = std::vector<Holder>{job_on(snapshot, 0)};
    CHECK_FALSE(asked().removes);
    CHECK(asked().addresses == Steps{"192.168.30.202/24"});
  }
}

TEST_CASE("rule 4: our IPv6 duplicate is set again and again, with growing pauses") {
  Snapshot snapshot = ready_scene();
  const Config config = addressed({"fd00::1/64"});
  netdev(snapshot).addresses = {{"fd00::1/64", true, true, true}};
  const Plan first = plan_settled(snapshot, config);
  REQUIRE(first.actions.size() == 1);
  CHECK(std::get<ConfigureLink>(first.actions.front().operation).addresses == Steps{"fd00::1/64"});

  SECTION("the pace") {
    History history = long_settled(snapshot);
    snapshot.taken_at = kNow;
    std::vector<Milliseconds> tried;
    for (BootTime now = kNow; now < kNow + std::chrono::hours{3};) {
      const Plan plan = pvrdma::plan(config, snapshot, history, now);
      if (plan.actions.empty()) {
        REQUIRE(plan.next_look);
        REQUIRE(*plan.next_look > now);
        now = *plan.next_look;
        continue;
      }
      tried.push_back(now - kNow);
      // Duplicate address detection takes a second and finds the other host again.
      add(snapshot.ledger, {Verb::ConfigureLink, function_of(0), now, now, Outcome::Done, ""});
      now += Milliseconds{1500};
    }
    REQUIRE(tried.size() > 8);
    CHECK(tried[4] < std::chrono::minutes{8});
    CHECK(tried.size() < 5 + 18);
    CHECK(tried[tried.size() - 1] - tried[tried.size() - 2] >= std::chrono::minutes{10});
    const Plan last = pvrdma::plan(config, snapshot, history, kNow + std::chrono::hours{3});
    const Finding* slowly = finding(last.findings, FindingId::GivingUp);
    REQUIRE(slowly != nullptr);
    CHECK(slowly->summary.find("every ten minutes") != std::string::npos);
  }
  SECTION("not under a job, which would lose its GID") {
    snapshot.holders = std::vector<Holder>{job_on(snapshot, 0)};
    const Plan plan = plan_settled(snapshot, config);
    CHECK(plan.actions.empty());
    CHECK(finding(plan.findings, FindingId::AddressWaits) != nullptr);
  }
  SECTION("a duplicate that is not ours") {
    netdev(snapshot).addresses = {{"fd00::1/64", false, true, true}};
    CHECK(plan_settled(snapshot, config).actions.empty());
  }
  SECTION("an address that the kernel still checks") {
    netdev(snapshot).addresses = {{"fd00::1/64", true, true, false}};
    CHECK(plan_settled(snapshot, config).actions.empty());
  }
  SECTION("without carrier there is no result") {
    netdev(snapshot).carrier = false;
    CHECK(plan_settled(snapshot, config).actions.empty());
  }
}

TEST_CASE(
    "rule 4: an address that the network refuses is retried without end, one removed here is not") {
  Snapshot snapshot = ready_scene();
  const Config config = addressed({"192.168.30.201/24"});
  const auto after_five = [&](Outcome outcome) {
    snapshot.ledger = {};
    for (unsigned i = 0; i < 5; ++i)
      add(snapshot.ledger,
          attempt(Verb::ConfigureLink, function_of(0), Milliseconds{100}, outcome));
    return plan(config, snapshot, long_settled(snapshot), kNow);
  };
  const Plan refused = after_five(Outcome::Failed);
  CHECK(refused.actions.empty());
  REQUIRE(refused.next_look);
  CHECK(plan(config, snapshot, long_settled(snapshot), *refused.next_look).actions.size() == 1);
  const Plan undone = after_five(Outcome::Done);
  CHECK(undone.actions.empty());
  CHECK_FALSE(undone.next_look);
}

TEST_CASE("rule 4: a link that was taken down is left for a second, as a bond may take it") {
  Snapshot up = ready_scene();
  up.taken_at = kNow - Milliseconds{1000};
  Snapshot down = up;
  down.taken_at = kNow;
  netdev(down).link_up = false;
  History history = advance(long_settled(up), nullptr, up);
  history = advance(std::move(history), &up, down);
  const Plan early = plan({}, down, history, kNow);
  CHECK(early.actions.empty());
  CHECK(early.next_look == kNow + Milliseconds{1000});
  CHECK(plan({}, down, history, kNow + Milliseconds{1000}).actions.size() == 1);
  // A new interface of the same adapter, as after a rebind of vmxnet3, was never up.
  netdev(down).index = 77;
  history = advance(advance(long_settled(up), nullptr, up), &up, down);
  CHECK(plan({}, down, history, kNow).actions.size() == 1);
}

TEST_CASE("rule 4: a link in a bond belongs to the bond") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).owner = LinkOwner{LinkManager::Master, true, {}, "bond0"};
  netdev(snapshot).link_up = false;
  netdev(snapshot).addresses = {{kOurs, true}};
  const Config config = addressed({"192.168.30.202/24"});
  const Plan observed = plan_settled(snapshot, config);
  CHECK(observed.actions.empty());
  REQUIRE(finding(observed.findings, FindingId::LinkDown) != nullptr);
  CHECK(finding(observed.findings, FindingId::LinkDown)->summary ==
        "The link of ens10 is down, and its master bond0 manages it.");
  REQUIRE(finding(observed.findings, FindingId::AddressMissing) != nullptr);
  CHECK(finding(observed.findings, FindingId::AddressMissing)->remedy ==
        "Set it on bond0, which ens10 is a part of. Do that when no job uses the adapter.");
}
