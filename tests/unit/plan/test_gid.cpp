// SPDX-License-Identifier: GPL-2.0-or-later
// The GID for applications, and when a missing GID counts.
#include <map>

#include "agent/plan/questions.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/plan/scene.hpp"

using namespace pvrdma;
using namespace pvrdma::test;

namespace {

Config with(GidType type, std::vector<std::string> addresses = {}) {
  Config config;
  config.adapters = {{{std::nullopt, "0000:00:10.0", std::nullopt},
                      Manage::Auto,
                      std::nullopt,
                      std::move(addresses),
                      type}};
  return config;
}

Gid gid(unsigned index, const std::string& text, const std::string& type) {
  return {index, text, type, {}};
}

Snapshot scene() {
  Snapshot snapshot = ready_scene();
  netdev(snapshot).addresses = {
      {"fe80::1/64"}, {"fd00::1/64"}, {"192.168.30.201/24"}, {"192.168.30.202/24"}};
  rdma(snapshot).gids = {gid(0, "fe80::1", "RoCE v2"),
                         gid(1, "::ffff:192.168.30.201", "IB/RoCE v1"),
                         gid(2, "::ffff:192.168.30.201", "RoCE v2"),
                         gid(3, "::ffff:192.168.30.201", "RoCE v2"),
                         gid(4, "::ffff:192.168.30.202", "IB/RoCE v1"),
                         gid(5, "fd00::1", "RoCE v2")};
  return snapshot;
}

std::optional<unsigned> index_of(const Snapshot& snapshot, const Config& config) {
  const auto found = application_gid(config, snapshot.adapters.get()->front());
  return found ? std::optional{found->index} : std::nullopt;
}

}  // namespace

TEST_CASE("gid: IPv4 before IPv6, RoCE v2 before v1, the lowest index") {
  Snapshot snapshot = scene();
  CHECK(index_of(snapshot, {}) == 2U);
  CHECK(application_gid({}, adapter(snapshot)) ==
        ApplicationGid{"192.168.30.201", "::ffff:192.168.30.201", 2, "RoCE v2"});
  CHECK(index_of(snapshot, with(GidType::RoceV1)) == 1U);
  CHECK(index_of(snapshot, with(GidType::Best, {"192.168.30.202/24"})) == 4U);
  CHECK(index_of(snapshot, with(GidType::RoceV2, {"192.168.30.202/24"})) == std::nullopt);
  CHECK(index_of(snapshot, with(GidType::Best, {"fd00::1/64"})) == 5U);
  netdev(snapshot).addresses.resize(2);
  CHECK(index_of(snapshot, {}) == 5U);
  netdev(snapshot).addresses.back().tentative = true;
  CHECK(application_address({}, adapter(snapshot)).empty());
  netdev(snapshot).addresses = {{"fe80::1/64"}, {"169.254.7.7/16"}};
  CHECK(application_address({}, adapter(snapshot)).empty());
}

TEST_CASE("gid: an address without a GID keeps an adapter from being ready") {
  Snapshot snapshot = scene();
  History history = long_settled(snapshot);
  history.adapters[function_of(0)].changed = kNow;
  const auto judged = [&](const Config& config, BootTime now) {
    const Plan result = plan(config, snapshot, history, now);
    return assess(config, snapshot, result, history, now);
  };
  CHECK(judged({}, kNow).state == State::Ready);
  CHECK(judged({}, kNow).adapters.front().application_gid->index == 2);
  const Config v2 = with(GidType::RoceV2, {"192.168.30.202/24"});
  CHECK(judged(v2, kNow).state == State::Converging);
  CHECK(finding(judged(v2, kNow).findings, FindingId::GidMissing) == nullptr);
  // The GID comes without an event, so looks follow the change, at growing intervals.
  const std::map<int, int> looks{{0, 20}, {15, 35}, {20, 40}, {800, 1600}};
  for (const auto& [passed, next] : looks)
    CHECK(plan(v2, snapshot, history, kNow + Milliseconds{passed}).next_look ==
          kNow + Milliseconds{next});
  CHECK(plan(v2, snapshot, history, kNow + Milliseconds{2000}).next_look == kNow + kSettle);
  const Health late = judged(v2, kNow + kSettle);
  REQUIRE(finding(late.findings, FindingId::GidMissing) != nullptr);
  CHECK(finding(late.findings, FindingId::GidMissing)->remedy.find("gid_type") !=
        std::string::npos);
  netdev(snapshot).addresses = {{"fe80::1/64"}};
  CHECK(judged(v2, kNow).state != State::Unknown);
  CHECK(judged({}, kNow).state == State::Ready);  // without an address no GID is needed
}

TEST_CASE("gid: moves are counted") {
  Snapshot before = scene();
  Snapshot now = before;
  CHECK(moved_gids(rdma(before), rdma(now)) == 0);
  rdma(now).gids[2].index = 7;
  rdma(now).gids.pop_back();  // a GID that is gone has not moved
  CHECK(moved_gids(rdma(before), rdma(now)) == 1);
  History history = advance(advance({}, nullptr, before), &before, now);
  CHECK(history.adapters[function_of(0)].gid_moves == 1);
}
