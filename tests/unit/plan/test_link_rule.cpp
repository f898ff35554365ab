// SPDX-License-Identifier: GPL-2.0-or-later
// Rule 4: our links, network managers' links, and the findings about both.
#include "agent/plan/findings.hpp"
#include "agent/plan/questions.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

const Error kOwnerDenied{13, "reading", "a file"};

Config configured(Manage manage, std::optional<unsigned> mtu,
                  std::vector<std::string> addresses = {}) {
  Config config;
  config.adapters = {
      {{std::nullopt, "0000:00:10.0", std::nullopt}, manage, mtu, std::move(addresses)}};
  return config;
}

ConfigureLink only_link(const Plan& plan) {
  REQUIRE(plan.actions.size() == 1);
  const auto* link = std::get_if<ConfigureLink>(&plan.actions.front().operation);
  REQUIRE(link != nullptr);
  return *link;
}

State state_of(const Snapshot& snapshot, const Config& config) {
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow;
  return assess(config, snapshot, plan(config, snapshot, history, kNow), history, kNow)
      .adapters.front()
      .state;
}

}  // namespace

TEST_CASE("rule 4: an MTU that waits for a manager's decision keeps the adapter from ready") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).mtu_max = 9000U;
  netdev(snapshot).owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].first_seen = kNow;
  history.adapters[function_of(0)].changed = kNow;
  const Config config = configured(Manage::Auto, 9000);
  const auto state = [&] {
    const Plan made = plan(config, snapshot, history, kNow);
    CHECK(made.actions.empty());
    return assess(config, snapshot, made, history, kNow).state;
  };
  CHECK(state() == State::Converging);
  netdev(snapshot).mtu = 9000;
  CHECK(state() == State::Ready);
}

TEST_CASE("rule 4: the link comes up only after the driver is live") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).link_up = false;
  rdma(snapshot).port.state = PortState::Down;
  CHECK(described(plan_settled(snapshot)) == Steps{"ConfigureLink 0000:00:10.1"});

  SECTION("coming is not live") {
    module(snapshot, kDriverModule).init = ModuleInit::Coming;
    CHECK(plan_settled(snapshot).actions.empty());
  }
  SECTION("udev comes first, for a bounded time") {
    netdev(snapshot).settled = false;
    History history = long_settled(snapshot);
    history.adapters[function_of(0)].changed = kNow;
    const Plan early = plan({}, snapshot, history, kNow);
    CHECK(early.actions.empty());
    REQUIRE(early.next_look);
    CHECK(described(plan({}, snapshot, history, *early.next_look)) ==
          Steps{"ConfigureLink 0000:00:10.1"});
  }
  SECTION("manage = observe: never") {
    Config config;
    config.adapters = {{{std::nullopt, "0000:00:10.0", std::nullopt}, Manage::Observe, {}, {}}};
    CHECK(plan_settled(snapshot, config).actions.empty());
    CHECK(finding(plan_settled(snapshot, config).findings, FindingId::LinkDown) != nullptr);
  }
}

TEST_CASE("rule 4: settings for every adapter") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).mtu_max = 9000U;
  Config config;
  config.every_adapter.mtu = 9000;
  CHECK(only_link(plan_settled(snapshot, config)).mtu == 9000U);
  config.every_adapter.manage = Manage::Observe;
  CHECK(plan_settled(snapshot, config).actions.empty());
  CHECK(finding(plan_settled(snapshot, config).findings, FindingId::MtuDiffers) != nullptr);
  config.adapters = configured(Manage::Auto, 4000).adapters;
  CHECK(only_link(plan_settled(snapshot, config)).mtu == 4000U);
}

TEST_CASE("rule 4: MTU and addresses as configured") {
  Snapshot snapshot = ready_scene();
  const Config config = configured(Manage::Auto, 9000, {"192.168.30.201/24", "fd00::1/64"});
  netdev(snapshot).mtu_max = 9000U;
  netdev(snapshot).addresses = {{"fe80::1/64"}, {"fd00::1/64"}};
  const ConfigureLink link = only_link(plan_settled(snapshot, config));
  CHECK(link.mtu == 9000U);
  CHECK(link.addresses == Steps{"192.168.30.201/24"});
  CHECK(state_of(snapshot, config) == State::Converging);

  SECTION("nothing is left to do") {
    netdev(snapshot).mtu = 9000;
    netdev(snapshot).addresses.push_back({"192.168.30.201/24", true});
    CHECK(state_of(snapshot, config) == State::Converging);  // the adapter has no GID yet
    rdma(snapshot).gids = {{0, "::ffff:192.168.30.201", std::string{"RoCE v2"}, {}}};
    CHECK(plan_settled(snapshot, config).actions.empty());
    CHECK(state_of(snapshot, config) == State::Ready);
  }
  SECTION("with the link down, all in one step") {
    netdev(snapshot).link_up = false;
    netdev(snapshot).carrier = Field<bool>::absent();
    CHECK(only_link(plan_settled(snapshot, config)).addresses.size() == 1);
  }
  SECTION("without carrier, no addresses yet") {
    netdev(snapshot).carrier = false;
    CHECK(only_link(plan_settled(snapshot, config)).addresses.empty());
  }
  SECTION("a held adapter keeps its MTU") {
    snapshot.holders = std::vector<Holder>{{7, "job", rdma(snapshot).name}};
    const Plan result = plan_settled(snapshot, config);
    CHECK_FALSE(only_link(result).mtu);
    CHECK(finding(result.findings, FindingId::MtuWaits) != nullptr);
  }
  SECTION("an MTU beyond the link's limits is not tried") {
    netdev(snapshot).mtu_max = 4000U;
    const Plan result = plan_settled(snapshot, config);
    CHECK_FALSE(only_link(result).mtu);
    REQUIRE(finding(result.findings, FindingId::MtuImpossible) != nullptr);
    CHECK(finding(result.findings, FindingId::MtuImpossible)->summary.find("4000") !=
          std::string::npos);
  }
  SECTION("not while the driver is coming") {
    module(snapshot, kDriverModule).init = ModuleInit::Coming;
    CHECK(plan_settled(snapshot, config).actions.empty());
  }
}

TEST_CASE("rule 4: an address of ours that is no longer configured is removed") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).addresses = {{"192.168.30.201/24", true}, {"192.168.30.9/24"}};
  CHECK(only_link(plan_settled(snapshot)).addresses.empty());
  CHECK(only_link(plan_settled(snapshot, configured(Manage::Agent, {}, {"192.168.30.9/24"})))
            .addresses == std::vector<std::string>{"192.168.30.9/24"});
  CHECK(
      plan_settled(snapshot, configured(Manage::Agent, {}, {"192.168.30.201/24"})).actions.empty());
  CHECK(plan_settled(snapshot, configured(Manage::Observe, {})).actions.empty());
  Config incomplete;
  incomplete.complete = false;
  CHECK(plan_settled(snapshot, incomplete).actions.empty());
}

TEST_CASE("rule 4: IPv6 addresses count once duplicate detection has accepted them") {
  Snapshot snapshot = ready_scene();
  const Config config = configured(Manage::Auto, {}, {"fd00::1/64"});
  netdev(snapshot).addresses = {{"fd00::1/64", true, true, false}};
  CHECK(plan_settled(snapshot, config).actions.empty());
  CHECK(state_of(snapshot, config) == State::Converging);
  netdev(snapshot).addresses = {{"fd00::1/64", true, true, true}};
  CHECK(finding(plan_settled(snapshot, config).findings, FindingId::AddressDuplicate) != nullptr);
  CHECK(state_of(snapshot, config) == State::Failed);
}

TEST_CASE("rule 4: a network manager's link is compared, never changed") {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).link_up = false;
  netdev(snapshot).owner = LinkOwner{LinkManager::Networkd, true, "/etc/systemd/network/r.network"};
  const Config config = configured(Manage::Auto, 9000, {"192.168.30.201/24"});
  const Plan result = plan_settled(snapshot, config);
  CHECK(result.actions.empty());
  CHECK(finding(result.findings, FindingId::LinkDown) != nullptr);
  CHECK(managed_by(config, adapter(snapshot)) == "systemd-networkd");

  SECTION("with the line for its configuration") {
    CHECK(finding(result.findings, FindingId::MtuDiffers)->remedy ==
          advice::set_mtu(*netdev(snapshot).owner.get(), netdev(snapshot), 9000));
  }
  SECTION("nor where its owner is unknown") {
    netdev(snapshot).owner = Field<LinkOwner>::unreadable(kOwnerDenied);
    const Plan plan = plan_settled(snapshot, config);
    CHECK(plan.actions.empty());
    CHECK(finding(plan.findings, FindingId::Unreadable) != nullptr);
    // The advice of these is for a link whose owner is known.
    for (const FindingId id :
         {FindingId::LinkDown, FindingId::MtuDiffers, FindingId::AddressMissing})
      CHECK(finding(plan.findings, id) == nullptr);
  }
  SECTION("observe: without a manager the commands to run by hand") {
    netdev(snapshot).owner = {};
    const Plan plan = plan_settled(snapshot, configured(Manage::Observe, 9000));
    REQUIRE(finding(plan.findings, FindingId::MtuDiffers) != nullptr);
    CHECK(finding(plan.findings, FindingId::MtuDiffers)->remedy ==
          "When no job uses the adapter, set it by ip link set ens10 mtu 9000.");
    CHECK(managed_by(configured(Manage::Observe, {}), adapter(snapshot)) == "nobody");
  }
}

TEST_CASE("rule 4: manage = agent with another owner is carried out, and reported") {
  Snapshot snapshot = ready_scene();
  const Config config = configured(Manage::Agent, {}, {"192.168.30.201/24"});
  netdev(snapshot).owner = LinkOwner{LinkManager::Networkd, true, "/etc/r.network"};
  const Plan result = plan_settled(snapshot, config);
  CHECK(only_link(result).addresses == Steps{"192.168.30.201/24"});
  REQUIRE(finding(result.findings, FindingId::TwoOwners) != nullptr);
  CHECK(finding(result.findings, FindingId::TwoOwners)->remedy ==
        advice::leave_link_to_us(*netdev(snapshot).owner.get(), netdev(snapshot)));
}

TEST_CASE(
    "rule 4: a manager that has not decided finds the link up, and has a minute to configure it") {
  Snapshot snapshot = ready_scene();
  const Config config = configured(Manage::Auto, 1400, {"192.168.30.201/24"});
  netdev(snapshot).link_up = false;
  netdev(snapshot).owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].first_seen = kNow;
  const Plan early = plan(config, snapshot, history, kNow);
  CHECK(only_link(early).addresses.empty());
  CHECK_FALSE(only_link(early).mtu);
  REQUIRE(early.next_look);
  const Plan late = plan(config, snapshot, history, *early.next_look);
  CHECK(only_link(late).addresses.size() == 1);
  CHECK(only_link(late).mtu == 1400U);
  // manage = "agent" waits for no network manager.
  CHECK(only_link(plan(configured(Manage::Agent, 1400), snapshot, history, kNow)).mtu == 1400U);
}

TEST_CASE("rule 4: a manager that has not decided for lack of carrier has a minute after it") {
  Snapshot now = ready_scene();
  netdev(now).owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  netdev(now).carrier = false;
  const Config config = configured(Manage::Auto, 1400);
  const History history = advance(long_settled(now), nullptr, now);
  CHECK(plan(config, now, history, kNow).actions.empty());
  netdev(now).carrier = true;
  const Plan early = plan(config, now, history, kNow + Milliseconds{1000});
  CHECK(early.actions.empty());
  CHECK(early.next_look == kNow + Milliseconds{60'000});
  CHECK(only_link(plan(config, now, history, kNow + Milliseconds{60'000})).mtu == 1400U);
}

TEST_CASE("rule 4: a network manager that restarts keeps its link for a minute") {
  Snapshot before = ready_scene();
  netdev(before).owner = LinkOwner{LinkManager::NetworkManager, true, ""};
  Snapshot now = before;
  now.taken_at = kNow + Milliseconds{1000};
  netdev(now).owner = LinkOwner{LinkManager::NetworkManager, false, ""};
  netdev(now).link_up = false;
  const Config config = configured(Manage::Auto, 1400, {"192.168.30.201/24"});
  const History seen = advance(long_settled(before), nullptr, before);
  const History history = advance(seen, &before, now);
  const Plan early = plan(config, now, history, now.taken_at);
  CHECK(early.actions.empty());
  CHECK(early.next_look == kNow + Milliseconds{60'000});
  CHECK(only_link(plan(config, now, history, kNow + Milliseconds{60'000})).mtu == 1400U);
  // manage = "agent" waits for no network manager; a manager that says it leaves the link is
  // believed.
  const BootTime soon =
      now.taken_at + Milliseconds{1000};  // a link that was taken down is left for a second
  CHECK(only_link(plan(configured(Manage::Agent, 1400), now, history, soon)).mtu == 1400U);
  netdev(now).owner = Field<LinkOwner>::absent();
  CHECK(only_link(plan(config, now, history, soon)).mtu == 1400U);
}
